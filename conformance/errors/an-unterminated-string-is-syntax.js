const a = 1;
const b = "open;
//> error: syntax
//> line: 2
