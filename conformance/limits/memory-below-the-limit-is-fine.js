//! limits = { memory_mb = 32, cpu_ms = 3000, wall_ms = 10000 }
const all = [];
for (let i = 0; i < 8; i++) all.push(new Uint8Array(1 << 20));
return all.length;
//> value: 8
