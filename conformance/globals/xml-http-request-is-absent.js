//! oracle = false
// Node has it.
return [typeof XMLHttpRequest, "XMLHttpRequest" in globalThis];
//> value: ["undefined",false]
