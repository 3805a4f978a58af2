function twice(n) { return n * 2; }
const inner = () => { return 1; };
twice(inner() + 2)
//> value: 6
