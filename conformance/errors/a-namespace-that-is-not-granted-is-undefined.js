//! namespaces = ["n.*"]
//! oracle = false
return await tools.m.echo(1);
//> error: thrown TypeError
