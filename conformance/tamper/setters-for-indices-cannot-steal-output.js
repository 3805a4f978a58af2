//! tools = ["echo"]
let stolen = 0;
for (const key of ["0", "1", "2", "3"]) {
  Object.defineProperty(Object.prototype, key, { configurable: true, set() { stolen++; }, get() { return "forged"; } });
  Object.defineProperty(Array.prototype, key, { configurable: true, set() { stolen++; }, get() { return "forged"; } });
}
console.log("real", 5);
const reply = await tools.echo({ a: "real" });
for (const key of ["0", "1", "2", "3"]) { delete Object.prototype[key]; delete Array.prototype[key]; }
return reply;
//> value: {"a":"real"}
//> stdout: "real 5"
