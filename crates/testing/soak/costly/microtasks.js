//! limits = { cpu_ms = 5 }
for (;;) await 0;
//> error: cpu_limit
