const u = new URL("https://example.com/a");
u.pathname = "/b c";
u.search = "k=v w";
u.hash = "end";
u.port = "8080";
u.hostname = "other.org";
u.protocol = "http";
u.username = "me";
return u.href;
//> value: "http://me@other.org:8080/b%20c?k=v%20w#end"
