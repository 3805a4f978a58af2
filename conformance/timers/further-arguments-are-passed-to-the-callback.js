//! time = 0
return new Promise(resolve => setTimeout((...args) => resolve(args), 1, "a", { b: 2 }, null));
//> value: ["a",{"b":2},null]
