const x = 1;

throw new Error("boom");
//> error: thrown Error
//> message: "boom"
//> line: 3
