//! oracle = false
// Node reads them in another order than WebIDL says.
const read = [];
new Response("x", new Proxy({}, { get(_, key) { read.push(key); } }));
return read;
//> value: ["headers","status","statusText"]
