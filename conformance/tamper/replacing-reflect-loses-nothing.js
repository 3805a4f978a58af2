//! tools = ["echo"]
for (const name of Object.getOwnPropertyNames(Reflect)) Reflect[name] = () => { throw new Error("tampered"); };
console.log("real", { a: [1] });
return tools.echo({ a: 1 });
//> value: {"a":1}
//> stdout: "real { a: [ 1 ] }"
