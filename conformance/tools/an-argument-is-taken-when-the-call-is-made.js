//! tools = ["echo"]
const o = { a: 1 };
const reply = tools.echo(o);
o.a = 2;
return (await reply).a;
//> value: 1
