//! oracle = false
// Node has shared memory.
return [typeof SharedArrayBuffer, typeof Atomics];
//> value: ["undefined","undefined"]
