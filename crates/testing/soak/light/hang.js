//! tools = ["hang"]
//! limits = { wall_ms = 5 }
await tools.hang();
//> error: timeout
