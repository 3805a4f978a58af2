//! limits = { cpu_ms = 1000, memory_mb = 64, wall_ms = 5000 }
//! oracle = false
// Node's parser needs no stack for this.
try { JSON.parse("[".repeat(1e6) + "]".repeat(1e6)); return "parsed"; } catch (error) { return error instanceof Error ? "refused" : "odd"; }
//> any: value "parsed" | value "refused" | error memory_limit,cpu_limit,stack_overflow
