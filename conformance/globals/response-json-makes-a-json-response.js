const r = Response.json({ a: [1] }, { status: 404 });
return [r.status, r.ok, r.headers.get("content-type"), await r.text()];
//> value: [404,false,"application/json","{\"a\":[1]}"]
