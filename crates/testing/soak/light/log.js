console.log("a", { b: [1] });
console.error("c");
//> value: undefined
//> stdout: "a { b: [ 1 ] }"
//> stderr: "c"
