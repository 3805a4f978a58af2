const base = "https://example.com/dir/page?x=1#h";
return ["other", "/root", "?q=2", "#top", "../up", "//host/p", "https://abs/", ""].map(u => new URL(u, base).href);
//> value: ["https://example.com/dir/other","https://example.com/root","https://example.com/dir/page?q=2","https://example.com/dir/page?x=1#top","https://example.com/up","https://host/p","https://abs/","https://example.com/dir/page?x=1"]
