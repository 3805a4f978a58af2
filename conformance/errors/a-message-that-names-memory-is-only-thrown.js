throw new Error("out of memory");
//> error: thrown Error
//> message: "out of memory"
