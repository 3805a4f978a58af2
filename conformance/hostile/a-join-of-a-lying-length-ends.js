//! limits = { cpu_ms = 200, memory_mb = 32, wall_ms = 5000 }
//! oracle = false
// Node has no such limits.
const a = [];
a.length = 2 ** 32 - 1;
return a.join("xx").length;
//> any: error cpu_limit,memory_limit,thrown
