//! tools = ["echo"]
Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => "forged";
console.log("real", [1], new Map([[1, 2]]));
return tools.echo({ a: 1 });
//> value: {"a":1}
//> stdout: "real [ 1 ] Map(1) { 1 => 2 }"
