//! tools = ["echo", "fail"]
tools.fail("unheard");
tools.echo("x".repeat(10000));
return 1;
//> value: 1
