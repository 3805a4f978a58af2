console.dir({ a: { b: { c: { d: 1 } } } }, { depth: 0 });
console.dir({ a: { b: { c: { d: 1 } } } }, { depth: null });
console.dir("text");
return null;
//> value: null
//> stdout: "{ a: [Object] }"
//> stdout: "{\n  a: { b: { c: { d: 1 } } }\n}"
//> stdout: "'text'"
