//! limits = { cpu_ms = 200, memory_mb = 32, wall_ms = 5000 }
//! oracle = false
// Node has no CPU limit.
return new Proxy({}, { ownKeys: () => Array.from({ length: 1e7 }, (_, i) => `k${i}`), getOwnPropertyDescriptor: () => ({ value: 1, enumerable: true, configurable: true }) });
//> any: error cpu_limit,memory_limit,output_limit,thrown
