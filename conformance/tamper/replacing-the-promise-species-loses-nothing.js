//! tools = ["echo"]
Object.defineProperty(Promise, Symbol.species, { get() { return function (run) { run(() => {}, () => {}); }; } });
return tools.echo("real");
//> value: "real"
