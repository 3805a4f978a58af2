//! seed = 7
// Drawing from one leaves nothing to guess about the other.
const a = Math.random();
const [b] = crypto.getRandomValues(new Uint32Array(1));
console.error(a, b);
return Math.floor(a * 2 ** 32) !== b;
//> value: true
