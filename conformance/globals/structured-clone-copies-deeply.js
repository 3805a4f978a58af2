const source = { a: [1, { b: 2 }], d: new Date(0), r: /x/gi, u: undefined, n: -0, big: 5n };
const copy = structuredClone(source);
copy.a[1].b = 9;
return [source.a[1].b, copy.d instanceof Date, copy.d !== source.d, String(copy.r), "u" in copy, Object.is(copy.n, -0), typeof copy.big];
//> value: [2,true,true,"/x/gi",true,true,"bigint"]
