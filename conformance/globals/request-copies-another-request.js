const a = new Request("https://example.com/", { method: "PUT", body: "one", headers: { A: "1" } });
const b = new Request(a.clone(), { method: "PATCH" });
return [b.method, b.headers.get("a"), await b.text(), a.bodyUsed];
//> value: ["PATCH","1","one",false]
