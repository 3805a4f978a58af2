//! time = 0
setTimeout(() => console.log("last timer"), 50);
await new Promise(() => {});
//> error: stalled
//> stdout: "last timer"
