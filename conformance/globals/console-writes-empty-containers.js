console.log({}, [], new Map(), new Set(), { a: {} , b: [] });
return null;
//> value: null
//> stdout: "{} [] Map(0) {} Set(0) {} { a: {}, b: [] }"
