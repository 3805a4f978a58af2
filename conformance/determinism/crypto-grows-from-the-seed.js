//! seed = 7
// What was drawn goes to stderr, where a second run with the same seed must write the same.
const bytes = crypto.getRandomValues(new Uint8Array(32));
const id = crypto.randomUUID();
console.error(bytes.join(), id);
return [new Set(bytes).size > 8, id.length];
//> value: [true,36]
