//! limits = { cpu_ms = 2000, memory_mb = 64, wall_ms = 5000 }
for (let i = 0; i < 5000; i++) Promise.reject(new Error(`rejection ${i}`));
await null;
return "fine";
//> value: "fine"
