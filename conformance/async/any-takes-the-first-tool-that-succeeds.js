//! tools = ["echo", "fail"]
return Promise.any([tools.fail("a"), tools.fail("b"), tools.echo("c")]);
//> value: "c"
