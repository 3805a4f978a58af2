//! limits = { cpu_ms = 1000, memory_mb = 16, wall_ms = 3000 }
//! oracle = false
// Node has no such limits.
for (;;) setTimeout(() => {}, 1e6);
//> any: error memory_limit,cpu_limit,call_limit,thrown
