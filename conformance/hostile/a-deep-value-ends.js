//! limits = { cpu_ms = 1000, memory_mb = 64, wall_ms = 5000 }
//! oracle = false
// How deep a value may be before the stack is full differs by engine.
let value = 1;
for (let i = 0; i < 100000; i++) value = [value];
return value;
//> any: error stack_overflow,thrown,memory_limit,output_limit,cpu_limit
