return Object.defineProperty({ a: 1 }, "b", { value: 2, enumerable: false });
//> value: {"a":1}
