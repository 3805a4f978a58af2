//! limits = { cpu_ms = 100, wall_ms = 5000 }
//! oracle = false
// Node has no CPU limit.
async function* forever() { for (;;) yield 1; }
for await (const x of forever()) {}
//> error: cpu_limit
