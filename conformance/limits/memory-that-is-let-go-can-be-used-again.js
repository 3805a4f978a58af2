//! limits = { memory_mb = 16, cpu_ms = 3000, wall_ms = 10000 }
let sum = 0;
for (let i = 0; i < 60; i++) sum += new Uint8Array(1 << 20).fill(1)[i];
return sum;
//> value: 60
