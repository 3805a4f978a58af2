console.log({ a: { b: { c: {} } } });
console.log({ a: { b: { c: 1 } } });
console.log([[[[]]]], [[[1]]]);
return null;
//> value: null
//> stdout: "{ a: { b: { c: {} } } }"
//> stdout: "{ a: { b: { c: 1 } } }"
//> stdout: "[ [ [ [] ] ] ] [ [ [ 1 ] ] ]"
