//! limits = { cpu_ms = 100, wall_ms = 5000 }
//! oracle = false
// Node has no CPU limit.
return Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1);
//> error: cpu_limit
