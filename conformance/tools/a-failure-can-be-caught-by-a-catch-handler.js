//! tools = ["fail", "echo"]
const fallback = await tools.fail("x").catch(() => tools.echo("fallback"));
return fallback;
//> value: "fallback"
