//! tools = ["echo"]
for (const name of ["keys", "values", "entries", "assign", "create", "freeze", "getPrototypeOf", "getOwnPropertyNames", "getOwnPropertySymbols", "getOwnPropertyDescriptor", "fromEntries", "is"]) Object[name] = () => ["forged"];
Object.defineProperty = () => { throw new Error("tampered"); };
console.log("real", { a: { b: 1 } });
return tools.echo({ a: 1 });
//> value: {"a":1}
//> stdout: "real { a: { b: 1 } }"
