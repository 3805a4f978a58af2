//! limits = { memory_mb = 16, cpu_ms = 3000, wall_ms = 10000 }
const all = [];
for (let i = 0; ; i++) all.push(`${i}`.padEnd(5000, "x"));
//> error: memory_limit
