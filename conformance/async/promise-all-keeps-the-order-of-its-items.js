//! time = 0
const after = (ms, value) => new Promise(resolve => setTimeout(resolve, ms, value));
return Promise.all([after(30, "a"), after(10, "b"), "c", after(20, "d")]);
//> value: ["a","b","c","d"]
