throw Object.defineProperty(new Error("x"), "name", { get() { throw new Error("inner"); } });
//> error: thrown
