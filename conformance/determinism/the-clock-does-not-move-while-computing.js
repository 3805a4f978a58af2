//! time = 1000
const seen = new Set();
for (let i = 0; i < 2000; i++) { seen.add(Date.now()); seen.add(new Date().getTime()); }
await null;
seen.add(Date.now());
return [...seen];
//> value: [1000]
