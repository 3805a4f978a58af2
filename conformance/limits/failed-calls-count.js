//! tools = ["fail"]
//! limits = { calls = 3 }
for (let i = 0; i < 4; i++) await tools.fail("no").catch(() => {});
return "never";
//> error: call_limit
