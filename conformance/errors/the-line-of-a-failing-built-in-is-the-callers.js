const list = [3, 1];

return list.reduce.call(null, (a, b) => a + b);
//> error: thrown TypeError
//> line: 3
