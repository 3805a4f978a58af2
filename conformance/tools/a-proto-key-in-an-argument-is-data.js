//! tools = ["echo"]
const reply = await tools.echo(JSON.parse('{"__proto__":{"polluted":1},"constructor":2}'));
return [({}).polluted === undefined, Object.keys(reply), reply.constructor];
//> value: [true,["__proto__","constructor"],2]
