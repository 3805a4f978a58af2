//! limits = { cpu_ms = 2000, memory_mb = 64, wall_ms = 10000 }
let list = null;
for (let i = 0; i < 200000; i++) list = { list };
list = null;
return "freed";
//> value: "freed"
