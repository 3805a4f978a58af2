//! oracle = false
// Node reads them in another order than WebIDL says.
const read = [];
new Request("http://h/", new Proxy({}, { get(_, key) { read.push(key); } }));
return read.join(" ");
//> value: "body cache credentials duplex headers integrity keepalive method mode priority redirect referrer referrerPolicy signal window"
