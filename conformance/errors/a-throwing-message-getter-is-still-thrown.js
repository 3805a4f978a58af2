throw Object.defineProperty(new TypeError("x"), "message", { get() { throw new Error("inner"); } });
//> error: thrown
