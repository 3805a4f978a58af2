//! limits = { cpu_ms = 100, wall_ms = 10000 }
return { get a() { for (;;); } };
//> error: cpu_limit
