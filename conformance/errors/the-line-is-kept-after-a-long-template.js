const text = `one
two
three`;
// A comment
/* and another
   over lines */
throw new Error(text);
//> error: thrown Error
//> message: "one\ntwo\nthree"
//> line: 7
