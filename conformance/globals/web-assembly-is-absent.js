//! oracle = false
// Node has it.
return [typeof WebAssembly, "WebAssembly" in globalThis];
//> value: ["undefined",false]
