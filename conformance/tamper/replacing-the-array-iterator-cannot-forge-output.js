//! tools = ["echo"]
Array.prototype[Symbol.iterator] = function* () { yield "forged"; };
console.log("real", [1, 2]);
return { reply: await tools.echo([1, 2]) };
//> value: {"reply":[1,2]}
//> stdout: "real [ 1, 2 ]"
