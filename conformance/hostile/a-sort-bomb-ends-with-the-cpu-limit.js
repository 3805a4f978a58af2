//! limits = { cpu_ms = 100, memory_mb = 64, wall_ms = 5000 }
//! oracle = false
// Node has no CPU limit.
const a = Array.from({ length: 20000 }, (_, i) => (i * 7919) % 20000);
for (;;) a.sort((x, y) => y - x);
//> error: cpu_limit
