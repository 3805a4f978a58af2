//! namespaces = ["n.*"]
//! oracle = false
console.log(tools.n, [tools.n]);
//> value: undefined
//> stdout: "[Object: null prototype] {} [ [Object: null prototype] {} ]"
