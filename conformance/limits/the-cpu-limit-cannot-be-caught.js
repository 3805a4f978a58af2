//! limits = { cpu_ms = 100, wall_ms = 10000 }
try { for (;;); } catch { return "caught"; } finally { return "finally"; }
//> error: cpu_limit
