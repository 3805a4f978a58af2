//! limits = { cpu_ms = 100, wall_ms = 10000 }
//! oracle = false
// Node has no CPU limit.
setTimeout = clearTimeout = setInterval = queueMicrotask = () => {};
Date.now = performance.now = () => 0;
for (;;);
//> error: cpu_limit
