console.log("%s|%s|%s|%s|%s|%s|%s", -0, 5n, Symbol("s"), null, { a: { b: { c: 1 } } }, "text", [1, "x"]);
console.log("%s|%s", new Date(0), { toString() { return "own"; } });
return null;
//> value: null
//> stdout: "-0|5n|Symbol(s)|null|{ a: [Object] }|text|[ 1, 'x' ]"
//> stdout: "1970-01-01T00:00:00.000Z|own"
