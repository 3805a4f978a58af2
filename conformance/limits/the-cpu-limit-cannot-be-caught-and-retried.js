//! limits = { cpu_ms = 100, wall_ms = 10000 }
for (;;) {
  try { for (;;); } catch { continue; } finally { continue; }
}
//> error: cpu_limit
