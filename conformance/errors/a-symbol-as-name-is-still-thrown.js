throw Object.assign(new Error("x"), { name: Symbol("n"), message: Symbol("m") });
//> error: thrown
