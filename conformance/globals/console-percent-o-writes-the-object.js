console.log("%O and %o", { a: { b: { c: { d: 1 } } } }, { n: 1 });
return null;
//> value: null
//> stdout: "{ a: { b: { c: [Object] } } } and { n: 1 }"
