//! time = 0
const seen = [];
for (const delay of [-5, NaN, "x", null, {}]) setTimeout(() => seen.push(delay), delay);
await new Promise(resolve => setTimeout(resolve, 10));
return seen.length;
//> value: 5
