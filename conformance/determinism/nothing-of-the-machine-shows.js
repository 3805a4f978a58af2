//! oracle = false
// Node shows its machine.
const seen = [typeof navigator, typeof process, typeof performance?.memory, new Error("x").stack.includes("/")];
return seen;
//> value: ["undefined","undefined","undefined",false]
