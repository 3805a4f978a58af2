//! limits = { cpu_ms = 100, wall_ms = 10000 }
for (;;) await 0;
//> error: cpu_limit
