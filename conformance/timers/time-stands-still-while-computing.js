//! time = 5000
const start = Date.now();
let n = 0;
for (let i = 0; i < 20000; i++) n += i;
await null;
return [Date.now() - start, performance.now()];
//> value: [0,0]
