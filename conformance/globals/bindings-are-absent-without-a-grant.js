//! oracle = false
// They are our own.
return ["fetch", "kv", "files", "invoke", "secrets"].map((name) => name in globalThis);
//> value: [false,false,false,false,false]
