//! oracle = false
// Node has it.
return [typeof Atomics, "Atomics" in globalThis];
//> value: ["undefined",false]
