//! time = 0
await new Promise(resolve => setTimeout(resolve, "40"));
return Date.now();
//> value: 40
