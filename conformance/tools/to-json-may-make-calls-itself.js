//! tools = ["echo"]
const inner = [];
const o = { toJSON() { inner.push(tools.echo("inner")); return "outer"; } };
const outer = await tools.echo(o);
return [outer, await Promise.all(inner)];
//> value: ["outer",["inner"]]
