interface A { n: number }
enum E { X = 4 }
const a: A = { n: 3 };
return a.n + E.X;
//> value: 7
