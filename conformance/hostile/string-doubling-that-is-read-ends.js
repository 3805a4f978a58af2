//! limits = { cpu_ms = 1000, memory_mb = 16, wall_ms = 5000 }
//! oracle = false
// Node has no such limits.
let s = "x";
for (;;) { s += s; s.charCodeAt(s.length >> 1); }
//> any: error memory_limit,cpu_limit,thrown
