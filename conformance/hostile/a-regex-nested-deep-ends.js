//! limits = { cpu_ms = 1000, memory_mb = 64, wall_ms = 5000 }
const n = 50000;
try { new RegExp("(".repeat(n) + ")".repeat(n)).test("a"); return "done"; } catch (error) { return error instanceof Error ? "done" : "odd"; }
//> any: value "done" | error memory_limit,cpu_limit,stack_overflow
