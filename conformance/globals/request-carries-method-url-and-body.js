const r = new Request("https://example.com/a?b=1", { method: "post", headers: { "X-A": "1" }, body: "hello" });
return [r.method, r.url, r.headers.get("x-a"), r.headers.get("content-type"), await r.text()];
//> value: ["POST","https://example.com/a?b=1","1","text/plain;charset=UTF-8","hello"]
