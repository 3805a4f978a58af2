//! time = 0
const after = (ms, value) => new Promise(resolve => setTimeout(resolve, ms, value));
return Promise.race([after(20, "slow"), after(10, "fast")]);
//> value: "fast"
