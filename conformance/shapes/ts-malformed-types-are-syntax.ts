const ok = 1;
const x: = 5;
return x;
//> error: syntax
//> line: 2
