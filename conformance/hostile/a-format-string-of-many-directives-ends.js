//! limits = { cpu_ms = 2000, output_kb = 256, memory_mb = 64, wall_ms = 5000 }
console.error("%s%d%i%f%j%o%O%c%%".repeat(5000), 1, { a: 1 });
return "done";
//> any: value "done" | error output_limit,cpu_limit
