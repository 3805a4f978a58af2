const o = Object.freeze({ a: 1, get b() { return 2; } });
return [Object.entries(o), Object.fromEntries([["x", 1]]), Object.is(-0, 0), Object.hasOwn(o, "a"), Object.isFrozen(o), Object.getOwnPropertyNames("ab")];
//> value: [[["a",1],["b",2]],{"x":1},false,true,true,["0","1","length"]]
