//! limits = { output_kb = 16, cpu_ms = 2000, wall_ms = 10000 }
//! oracle = false
// Node has no output limit.
Array.prototype.push = Array.prototype.join = String.prototype.slice = () => "";
Object.defineProperty(String.prototype, "length", { value: 0 });
for (;;) console.log("x".repeat(100));
//> error: output_limit
