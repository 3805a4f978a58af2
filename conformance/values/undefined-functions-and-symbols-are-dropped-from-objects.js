return { a: undefined, b() {}, c: Symbol("c"), d: 1 };
//> value: {"d":1}
