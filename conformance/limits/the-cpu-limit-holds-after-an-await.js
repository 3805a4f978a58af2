//! tools = ["echo"]
//! limits = { cpu_ms = 100, wall_ms = 10000 }
await tools.echo(1);
for (;;);
//> error: cpu_limit
