//! time = 0
const seen = [];
setTimeout(() => seen.push("soon"));
await new Promise(resolve => setTimeout(resolve, 10));
return seen;
//> value: ["soon"]
