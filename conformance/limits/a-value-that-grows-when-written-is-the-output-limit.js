//! limits = { value_kb = 16, cpu_ms = 2000, wall_ms = 10000 }
let value = { x: 1 };
for (let i = 0; i < 16; i++) value = { a: value, b: value };
return value;
//> any: error output_limit,memory_limit,cpu_limit
