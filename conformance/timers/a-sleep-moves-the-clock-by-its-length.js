//! time = 1700000000000
const before = Date.now();
await new Promise(resolve => setTimeout(resolve, 1500));
return [before, Date.now() - before];
//> value: [1700000000000,1500]
