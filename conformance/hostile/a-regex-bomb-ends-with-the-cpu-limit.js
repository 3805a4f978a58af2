//! limits = { cpu_ms = 100, wall_ms = 5000 }
//! oracle = false
// Node has no CPU limit.
return /^(a+)+$/.test("a".repeat(40) + "b");
//> error: cpu_limit
