class A { constructor() { this.a = 1; } }
class B { get b() { return 2; } }
const o = Reflect.construct(A, [], B);
return [o.a, o.b, o instanceof B, Reflect.ownKeys({ b: 1, a: 2, 0: 3 })];
//> value: [1,2,true,["0","b","a"]]
