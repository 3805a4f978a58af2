//! tools = ["echo"]
for (const name of ["push", "pop", "shift", "unshift", "map", "join", "slice", "splice", "concat", "forEach", "filter", "includes", "indexOf", "reduce", "sort", "keys", "values", "entries", "fill", "at", "flat"]) {
  Array.prototype[name] = () => "forged";
}
console.log("real", [1, 2], { a: [3] });
return [await tools.echo([1, { b: [2] }])];
//> value: [[1,{"b":[2]}]]
//> stdout: "real [ 1, 2 ] { a: [ 3 ] }"
