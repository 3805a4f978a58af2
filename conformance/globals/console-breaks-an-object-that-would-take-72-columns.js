console.log({ a: "x".repeat(30), b: "y".repeat(25) });
console.log({ a: "x".repeat(30), b: "y".repeat(26) });
return null;
//> value: null
//> stdout: "{ a: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', b: 'yyyyyyyyyyyyyyyyyyyyyyyyy' }"
//> stdout: "{\n  a: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',\n  b: 'yyyyyyyyyyyyyyyyyyyyyyyyyy'\n}"
