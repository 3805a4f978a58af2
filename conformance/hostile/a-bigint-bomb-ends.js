//! limits = { cpu_ms = 200, memory_mb = 32, wall_ms = 5000 }
//! oracle = false
// Node has no such limits.
let x = 3n;
for (;;) x = x * x;
//> any: error cpu_limit,memory_limit,thrown
