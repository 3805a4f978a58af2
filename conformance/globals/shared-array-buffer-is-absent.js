//! oracle = false
// Node has it.
return [typeof SharedArrayBuffer, "SharedArrayBuffer" in globalThis];
//> value: ["undefined",false]
