//! limits = { memory_mb = 16, cpu_ms = 3000, wall_ms = 10000 }
return new ArrayBuffer(64 << 20).byteLength;
//> any: error memory_limit,thrown
