//! limits = { output_kb = 16, cpu_ms = 2000, wall_ms = 10000 }
console.error("kept");
console.log("x".repeat(17 * 1024));
return "never";
//> error: output_limit
//> stderr: "kept"
