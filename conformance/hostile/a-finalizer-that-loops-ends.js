//! limits = { cpu_ms = 200, memory_mb = 64, wall_ms = 5000 }
//! oracle = false
// When a collector runs is its own affair.
globalThis.registry = new FinalizationRegistry(() => { for (;;); });
for (let i = 0; i < 100; i++) registry.register({ big: new Array(100) }, i);
for (let i = 0; i < 50; i++) { new Array(10000).fill(0); await 0; }
return "done";
//> any: value "done" | error cpu_limit,memory_limit
