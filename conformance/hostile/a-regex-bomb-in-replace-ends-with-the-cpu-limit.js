//! limits = { cpu_ms = 100, wall_ms = 5000 }
//! oracle = false
// Node has no CPU limit.
try { return ("a".repeat(40) + "!").replace(/(?:a|a)*$/g, ""); } catch { return "caught"; }
//> error: cpu_limit
