//! limits = { cpu_ms = 200, wall_ms = 300 }
const again = () => setTimeout(again, 0);
again();
await new Promise(() => {});
//> any: error timeout,cpu_limit
