//! oracle = false
// Node has it.
return [typeof Deno, "Deno" in globalThis];
//> value: ["undefined",false]
