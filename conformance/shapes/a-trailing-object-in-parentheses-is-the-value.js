const a = 1;
({ a, b: 2 })
//> value: {"a":1,"b":2}
