const u = new URL("https://user:p%40ss@example.com:8443/a/b;c?q=1&r=two#frag");
return [u.href, u.protocol, u.username, u.password, u.host, u.hostname, u.port, u.pathname, u.search, u.hash, u.origin];
//> value: ["https://user:p%40ss@example.com:8443/a/b;c?q=1&r=two#frag","https:","user","p%40ss","example.com:8443","example.com","8443","/a/b;c","?q=1&r=two","#frag","https://example.com:8443"]
