//! tools = ["fail", "echo"]
tools.fail("unheard");
return tools.echo("fine");
//> value: "fine"
