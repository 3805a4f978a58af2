//! oracle = false
// Node has it.
return [typeof navigator, "navigator" in globalThis];
//> value: ["undefined",false]
