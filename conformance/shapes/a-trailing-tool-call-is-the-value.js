//! tools = ["echo"]
const query = { q: "x" };
tools.echo(query)
//> value: {"q":"x"}
