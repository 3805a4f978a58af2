//! limits = { cpu_ms = 2000, memory_mb = 64, wall_ms = 5000 }
const names = Array.from({ length: 70000 }, (_, i) => `var v${i}=${i}`).join(";");
try { return new Function(`${names};return v69999`)(); } catch (error) { return error instanceof Error ? "refused" : "odd"; }
//> any: value 69999 | value "refused" | error memory_limit,cpu_limit
