//! oracle = false
// Node has it.
return [typeof process, "process" in globalThis];
//> value: ["undefined",false]
