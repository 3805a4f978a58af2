//! tools = ["echo"]
return [typeof await tools.echo(), typeof await tools.echo(undefined)];
//> value: ["undefined","undefined"]
