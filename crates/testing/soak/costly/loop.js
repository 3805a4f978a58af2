//! limits = { cpu_ms = 5 }
for (;;);
//> error: cpu_limit
