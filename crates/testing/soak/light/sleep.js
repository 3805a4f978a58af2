//! limits = { wall_ms = 5 }
await new Promise(resolve => setTimeout(resolve, 60000));
//> error: timeout
