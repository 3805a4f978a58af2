//! tools = ["echo"]
return tools.echo("first", "second", { third: 3 });
//> value: "first"
