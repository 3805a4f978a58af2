//! namespaces = ["n.*"]
//! oracle = false
const keys = ["then", "toJSON", "constructor", "toString", "valueOf", "hasOwnProperty", "__proto__", "__defineGetter__", "", "a-b", "1a", "a.b", "x".repeat(65)];
return [keys.filter((key) => tools.n[key] !== undefined), tools.n[Symbol.iterator], JSON.stringify({ n: tools.n }), Object.keys(tools.n), "echo" in tools.n];
//> value: [[],null,"{\"n\":{}}",[],false]
