//! limits = { cpu_ms = 100, wall_ms = 10000 }
for (;;);
//> error: cpu_limit
