//! oracle = false
// Node has it.
await fetch("https://example.com/");
//> error: thrown ReferenceError
//> line: 3
