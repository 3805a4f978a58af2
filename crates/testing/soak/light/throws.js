const f = () => { throw new TypeError("x"); };
f();
//> error: thrown TypeError
//> message: "x"
//> line: 1
