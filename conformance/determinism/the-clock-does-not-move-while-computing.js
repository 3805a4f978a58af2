//! time = 1000
//! oracle = false
// Node's clock runs on.
const seen = new Set();
for (let i = 0; i < 900; i++) seen.add(Date.now());
return [...seen];
//> value: [1000]
