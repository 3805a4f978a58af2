return ["http://x:80/", "https://x:443/", "ftp://x:21/", "http://x:443/"].map(u => new URL(u).host);
//> value: ["x","x","x","x:443"]
