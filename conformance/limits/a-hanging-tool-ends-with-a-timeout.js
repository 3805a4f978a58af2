//! tools = ["hang"]
//! limits = { wall_ms = 200 }
await tools.hang();
return "never";
//> error: timeout
