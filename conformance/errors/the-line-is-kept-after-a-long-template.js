const text = `one
two
three`;
// A comment
/* and another
   over lines */
throw new Error(text);
//> error: thrown Error
//> line: 7
