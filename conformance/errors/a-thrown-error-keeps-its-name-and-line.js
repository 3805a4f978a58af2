const x = 1;

throw new Error("boom");
//> error: thrown Error
//> line: 3
