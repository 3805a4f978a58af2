//! limits = { memory_mb = 16, cpu_ms = 3000, wall_ms = 10000 }
const all = [];
try { for (;;) all.push(new Array(1000).fill(1)); } catch { all.length = 0; return "caught"; }
//> error: memory_limit
