//! limits = { cpu_ms = 100, wall_ms = 2000 }
//! oracle = false
// Node has no CPU limit.
const o = { then(resolve) { resolve(o); } };
return o;
//> any: error cpu_limit,timeout,memory_limit
