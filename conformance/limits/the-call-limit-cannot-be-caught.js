//! tools = ["inc"]
//! limits = { calls = 5, cpu_ms = 1000, wall_ms = 10000 }
for (;;) { try { await tools.inc(); } catch {} }
//> error: call_limit
