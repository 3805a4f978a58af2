//! tools = ["echo"]
for (const name of ["get", "set", "writable", "enumerable", "configurable"]) {
  Object.defineProperty(Object.prototype, name, { __proto__: null, configurable: true, value: undefined, writable: true });
}
Object.prototype.get = () => "forged";
let reply;
try { console.log("real", { a: 1 }); reply = await tools.echo({ a: 1 }); } finally {
  for (const name of ["get", "set", "writable", "enumerable", "configurable"]) delete Object.prototype[name];
}
return reply;
//> value: {"a":1}
//> stdout: "real { a: 1 }"
