//! limits = { memory_mb = 16, cpu_ms = 3000, wall_ms = 10000 }
const all = [];
for (;;) all.push(new Array(1000).fill(all.length));
//> error: memory_limit
