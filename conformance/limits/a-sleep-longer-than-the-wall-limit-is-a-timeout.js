//! limits = { wall_ms = 200 }
await new Promise(resolve => setTimeout(resolve, 60000));
return "never";
//> error: timeout
