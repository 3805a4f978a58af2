//! tools = ["echo"]
globalThis.Symbol = () => { throw new Error("tampered"); };
Object.prototype[Symbol.toStringTag] = "forged";
console.log("real", [1]);
return tools.echo([1]);
//> value: [1]
//> stdout: "real [ 1 ]"
