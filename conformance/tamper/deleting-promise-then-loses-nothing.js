//! tools = ["echo"]
delete Promise.prototype.then;
delete Promise.prototype.catch;
delete Promise.prototype.finally;
return [await tools.echo("a"), await tools.echo("b")];
//> value: ["a","b"]
