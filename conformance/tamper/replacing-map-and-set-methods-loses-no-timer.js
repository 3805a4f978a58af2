//! time = 0
//! tools = ["echo"]
for (const C of [Map, Set, WeakMap, WeakSet]) for (const name of ["get", "set", "has", "delete", "add", "clear", "forEach", "entries", "values", "keys"]) if (name in C.prototype) C.prototype[name] = () => { throw new Error("tampered"); };
Map.prototype[Symbol.iterator] = Set.prototype[Symbol.iterator] = () => { throw new Error("tampered"); };
const id = setTimeout(() => console.log("cleared"), 5);
clearTimeout(id);
await new Promise(resolve => setTimeout(resolve, 10));
console.log("fired");
return tools.echo("real");
//> value: "real"
//> stdout: "fired"
