//! limits = { cpu_ms = 300, memory_mb = 16, wall_ms = 5000 }
//! oracle = false
// Node has no such limits.
await Promise.all({ [Symbol.iterator]: () => ({ next: () => ({ value: 1, done: false }) }) });
//> any: error cpu_limit,memory_limit
