//! limits = { memory_mb = 16, cpu_ms = 3000, wall_ms = 10000 }
let all = [];
for (;;) {
  try { for (;;) all.push(new Array(1000).fill(1)); } catch { all = []; }
}
//> error: memory_limit
