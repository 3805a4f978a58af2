return { [Symbol("k")]: 1, k: 2 };
//> value: {"k":2}
