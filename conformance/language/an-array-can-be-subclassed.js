class Stack extends Array { top() { return this.at(-1); } }
const s = Stack.from([1, 2, 3]).map(x => x * 2);
return [s.top(), s instanceof Stack, s.length, Array.isArray(s)];
//> value: [6,true,3,true]
