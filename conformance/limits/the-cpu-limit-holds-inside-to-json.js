//! tools = ["echo"]
//! limits = { cpu_ms = 100, wall_ms = 10000 }
await tools.echo({ toJSON() { for (;;); } });
//> error: cpu_limit
