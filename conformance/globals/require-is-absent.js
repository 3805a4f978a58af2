//! oracle = false
// Node has it.
return [typeof require, "require" in globalThis];
//> value: ["undefined",false]
