//! limits = { output_kb = 16, cpu_ms = 2000, wall_ms = 10000 }
console.error("kept");
for (;;) console.log("x".repeat(100));
//> error: output_limit
//> stderr: "kept"
