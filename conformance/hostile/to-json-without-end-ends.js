//! limits = { cpu_ms = 200, memory_mb = 16, value_kb = 64, wall_ms = 5000 }
//! oracle = false
// Node has no such limits.
const o = { toJSON() { return { toJSON: o.toJSON, x: [o] }; } };
return { o };
//> any: error stack_overflow,cpu_limit,memory_limit,output_limit,thrown
