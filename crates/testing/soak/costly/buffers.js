//! limits = { memory_mb = 8 }
const all = [];
for (;;) all.push(new Uint8Array(1 << 16));
//> error: memory_limit
