return Object.assign(Object.create(null), { a: 1 });
//> value: {"a":1}
