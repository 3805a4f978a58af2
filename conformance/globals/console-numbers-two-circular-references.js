const a = { n: "a" }, b = { n: "b", a };
a.b = b;
b.self = b;
console.log(a);
return null;
//> value: null
//> stdout: "<ref *1> {\n  n: 'a',\n  b: <ref *2> { n: 'b', a: [Circular *1], self: [Circular *2] }\n}"
