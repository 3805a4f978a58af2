//! limits = { memory_mb = 8 }
const all = [];
for (;;) all.push(new Array(1000).fill(0));
//> error: memory_limit
