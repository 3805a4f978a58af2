//! limits = { cpu_ms = 500, memory_mb = 16, output_kb = 64, wall_ms = 5000 }
//! oracle = false
// Node has no such limits.
for (let i = 0; ; i++) { console.count(`label ${i}`); console.time(`label ${i}`); console.group(); }
//> any: error output_limit,memory_limit,cpu_limit
