//! tools = ["slow"]
//! limits = { cpu_ms = 100, wall_ms = 10000 }
await tools.slow({ ms: 250 });
return "rested";
//> value: "rested"
