//! limits = { cpu_ms = 100, wall_ms = 5000 }
//! oracle = false
// Time moves in Node.
const start = Date.now();
while (Date.now() - start < 60000);
return "waited";
//> error: cpu_limit
