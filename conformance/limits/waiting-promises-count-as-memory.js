//! limits = { memory_mb = 16, cpu_ms = 3000, wall_ms = 10000 }
const all = [];
for (;;) all.push(new Promise(() => {}));
//> error: memory_limit
