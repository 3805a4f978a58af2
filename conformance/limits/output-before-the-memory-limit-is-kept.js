//! limits = { memory_mb = 16, cpu_ms = 3000, wall_ms = 10000 }
console.log("before");
const all = [];
for (;;) all.push(new Array(1000).fill(1));
//> error: memory_limit
//> stdout: "before"
