//! tools = ["echo"]
Object.getPrototypeOf([][Symbol.iterator]()).next = () => ({ done: true, value: "forged" });
console.log("real", [1, 2], { a: 1 });
return tools.echo(["x", "y"]);
//> value: ["x","y"]
//> stdout: "real [ 1, 2 ] { a: 1 }"
