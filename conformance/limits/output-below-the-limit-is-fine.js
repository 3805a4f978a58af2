//! limits = { output_kb = 16, cpu_ms = 2000, wall_ms = 10000 }
for (let i = 0; i < 100; i++) console.error("x".repeat(100));
return "fine";
//> value: "fine"
