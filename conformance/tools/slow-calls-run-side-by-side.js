//! tools = ["slow"]
//! limits = { wall_ms = 2000 }
await Promise.all(Array.from({ length: 30 }, () => tools.slow({ ms: 100 })));
return "all at once";
//> value: "all at once"
