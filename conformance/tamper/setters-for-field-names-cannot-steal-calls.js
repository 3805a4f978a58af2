//! time = 0
//! tools = ["echo"]
const names = ["id", "name", "kind", "args", "json", "error", "message", "text", "stream", "resolve", "reject", "promise", "body", "code", "tool", "call", "until", "done"];
for (const name of names) Object.defineProperty(Object.prototype, name, { configurable: true, set() { throw new Error("stolen"); }, get() { return undefined; } });
console.log("real");
const reply = await tools.echo("real");
await new Promise(resolve => setTimeout(resolve, 1));
for (const name of names) delete Object.prototype[name];
return reply;
//> value: "real"
//> stdout: "real"
