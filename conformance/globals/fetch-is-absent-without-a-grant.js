//! oracle = false
// Node has it.
return [typeof fetch, "fetch" in globalThis];
//> value: ["undefined",false]
