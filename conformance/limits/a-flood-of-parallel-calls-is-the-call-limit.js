//! tools = ["inc"]
//! limits = { calls = 10, cpu_ms = 1000, wall_ms = 10000 }
return (await Promise.allSettled(Array.from({ length: 200 }, () => tools.inc()))).length;
//> error: call_limit
