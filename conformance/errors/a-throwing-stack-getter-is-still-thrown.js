throw Object.defineProperty(new TypeError("x"), "stack", { get() { throw new Error("inner"); } });
//> error: thrown TypeError
