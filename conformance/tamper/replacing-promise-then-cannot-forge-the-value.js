//! tools = ["echo"]
Promise.prototype.then = function (resolve) { resolve?.("forged"); return this; };
return { real: await tools.echo(1) };
//> value: {"real":1}
