//! tools = ["echo"]
globalThis.Promise = class Fake { constructor(run) { run(() => {}, () => {}); } then(f) { f("forged"); } static resolve() { return new Fake(() => {}); } };
return [await tools.echo("real")];
//> value: ["real"]
