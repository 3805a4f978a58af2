//! tools = ["echo"]
const o = {};
for (let i = 0; i < 5000; i++) o[`key ${i}`] = i;
const reply = await tools.echo(o);
return [Object.keys(reply).length, reply["key 4999"]];
//> value: [5000,4999]
