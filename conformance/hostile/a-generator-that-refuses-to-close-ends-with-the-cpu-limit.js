//! limits = { cpu_ms = 100, wall_ms = 5000 }
//! oracle = false
// Node has no CPU limit.
function* stubborn() { try { yield 1; } finally { for (;;); } }
for (const x of stubborn()) break;
return "closed";
//> error: cpu_limit
