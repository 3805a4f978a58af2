console.log({ a: { b: { c: { d: 1 } }, list: [[[[1]]]] } });
return null;
//> value: null
//> stdout: "{ a: { b: { c: [Object] }, list: [ [Array] ] } }"
