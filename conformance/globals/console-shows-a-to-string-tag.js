console.log(new (class Thing { get [Symbol.toStringTag]() { return "T"; } })());
return null;
//> value: null
//> stdout: "Thing [T] {}"
