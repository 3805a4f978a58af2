//! limits = { output_kb = 16, cpu_ms = 2000, wall_ms = 10000 }
console.log("x".repeat(10 * 1024));
console.error("y".repeat(10 * 1024));
return "never";
//> error: output_limit
