//! limits = { output_kb = 16, cpu_ms = 2000, wall_ms = 10000 }
try { for (;;) console.log("x".repeat(100)); } catch { return "caught"; }
//> error: output_limit
