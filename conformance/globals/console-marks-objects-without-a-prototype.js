console.log(Object.create(null), Object.assign(Object.create(null), { a: 1 }));
return null;
//> value: null
//> stdout: "[Object: null prototype] {} [Object: null prototype] { a: 1 }"
