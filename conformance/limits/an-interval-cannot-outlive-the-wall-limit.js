//! limits = { wall_ms = 200 }
console.error("started");
setInterval(() => {}, 10);
await new Promise(() => {});
//> error: timeout
//> stderr: "started"
