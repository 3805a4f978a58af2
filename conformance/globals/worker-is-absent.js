//! oracle = false
// Node has it.
return [typeof Worker, "Worker" in globalThis];
//> value: ["undefined",false]
