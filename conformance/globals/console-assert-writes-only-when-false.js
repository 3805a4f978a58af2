console.assert(true, "not written");
console.assert(1 === 1);
console.assert(false);
console.assert(0, "zero is false");
console.assert(null, "with %s", "format");
return null;
//> value: null
//> stderr: "Assertion failed"
//> stderr: "Assertion failed: zero is false"
//> stderr: "Assertion failed: with format"
