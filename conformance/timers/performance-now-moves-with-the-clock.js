//! time = 1700000000000
const a = performance.now();
await new Promise(resolve => setTimeout(resolve, 250));
return performance.now() - a;
//> value: 250
