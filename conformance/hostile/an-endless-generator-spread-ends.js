//! limits = { cpu_ms = 300, memory_mb = 16, wall_ms = 5000 }
//! oracle = false
// Node has no such limits.
function* forever() { for (let i = 0; ; i++) yield [i]; }
return [...forever()].length;
//> any: error cpu_limit,memory_limit,thrown
