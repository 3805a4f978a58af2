//! limits = { cpu_ms = 100, wall_ms = 5000 }
//! oracle = false
// Node has no CPU limit.
({}) instanceof { [Symbol.hasInstance]() { for (;;); } };
//> error: cpu_limit
