//! namespaces = ["n.*"]
//! oracle = false
const same = await tools.n;
return [same === tools.n, typeof same.echo];
//> value: [true,"function"]
