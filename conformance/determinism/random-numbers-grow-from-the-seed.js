//! seed = 7
// What was drawn goes to stderr, where a second run with the same seed must write the same.
const drawn = Array.from({ length: 100 }, () => Math.random());
console.error(drawn.join());
return [drawn.every(x => x >= 0 && x < 1), new Set(drawn).size];
//> value: [true,100]
