//! tools = ["echo"]
const reply = await tools.echo(1);
return tools.fail("x");
//> error: thrown TypeError
//> line: 3
