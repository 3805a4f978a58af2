console.error("this must not be written");
const a = ;
//> error: syntax
//> line: 2
