const r = new Request("https://example.com");
return [r.method, r.url, [...r.headers], await r.text()];
//> value: ["GET","https://example.com/",[],""]
