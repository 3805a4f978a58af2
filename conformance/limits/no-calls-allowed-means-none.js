//! tools = ["echo"]
//! limits = { calls = 0 }
return tools.echo(1);
//> error: call_limit
