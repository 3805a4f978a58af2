return Promise.resolve({ a: 1 });
//> value: {"a":1}
