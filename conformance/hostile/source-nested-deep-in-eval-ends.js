//! limits = { cpu_ms = 1000, memory_mb = 64, wall_ms = 5000 }
const n = 20000;
const ends = code => { try { eval(code); return true; } catch (error) { return error instanceof Error; } };
return ["(".repeat(n) + "1" + ")".repeat(n), "[".repeat(n), "{".repeat(n), "!".repeat(n) + "1", "`${".repeat(n), "1?".repeat(n), "()=>{".repeat(n)].map(ends);
//> any: value [true,true,true,true,true,true,true] | error memory_limit,cpu_limit,stack_overflow
