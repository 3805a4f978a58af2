//! limits = { cpu_ms = 5, memory_mb = 8 }
let x = 3n;
for (;;) x = x * x;
//> any: error cpu_limit,memory_limit,thrown
