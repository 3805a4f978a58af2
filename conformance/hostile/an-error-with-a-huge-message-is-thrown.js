//! limits = { memory_mb = 64, wall_ms = 5000 }
const error = new Error("m".repeat(4e6));
error.stack = "s".repeat(4e6);
throw error;
//> any: error thrown,memory_limit,output_limit
