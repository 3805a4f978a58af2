//! limits = { cpu_ms = 100, wall_ms = 5000 }
//! oracle = false
// Node has no CPU limit.
const m = new Map([[0, 0]]);
for (const [key] of m) { m.delete(key); m.set(key + 1, 0); }
//> error: cpu_limit
