//! oracle = false
// Node has it.
return [typeof Buffer, "Buffer" in globalThis];
//> value: ["undefined",false]
