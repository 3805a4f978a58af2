return { a: { toJSON() {} }, b: 1 };
//> value: {"b":1}
