const o = {};
o.missing();
//> error: thrown TypeError
//> line: 2
