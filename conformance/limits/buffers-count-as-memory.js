//! limits = { memory_mb = 16, cpu_ms = 3000, wall_ms = 10000 }
const all = [];
for (let i = 0; i < 64; i++) all.push(new Uint8Array(1 << 20).fill(i));
return all.length;
//> error: memory_limit
