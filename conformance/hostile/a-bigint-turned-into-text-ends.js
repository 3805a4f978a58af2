//! limits = { cpu_ms = 200, memory_mb = 32, wall_ms = 5000 }
//! oracle = false
// Node has no such limits; a fast engine may even finish one round.
for (let n = 100000n; ; n *= 2n) (7n ** n).toString();
//> any: error cpu_limit,memory_limit,thrown
