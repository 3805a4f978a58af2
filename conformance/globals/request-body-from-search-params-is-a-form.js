const r = new Request("https://x/", { method: "POST", body: new URLSearchParams({ a: "1 2" }) });
return [r.headers.get("content-type"), await r.text()];
//> value: ["application/x-www-form-urlencoded;charset=UTF-8","a=1+2"]
