const r = new Response(JSON.stringify({ a: 1 }), { status: 201, statusText: "Made", headers: { "X-Y": "z" } });
return [r.status, r.ok, r.statusText, r.headers.get("x-y"), r.headers.get("content-type"), r.bodyUsed, await r.json(), r.bodyUsed];
//> value: [201,true,"Made","z","text/plain;charset=UTF-8",false,{"a":1},true]
