//! tools = ["fail"]
await tools.fail("boom");
return "never";
//> error: thrown
