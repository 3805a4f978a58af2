//! limits = { cpu_ms = 1000, memory_mb = 16, wall_ms = 5000 }
//! oracle = false
// Node has no such limits.
return "x".repeat(100e6).length;
//> any: error memory_limit,thrown
