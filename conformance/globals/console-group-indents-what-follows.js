console.log("top");
console.group("Group");
console.log("inside");
console.group();
console.log("deeper\nsecond line");
console.error("other stream");
console.groupEnd();
console.log({ a: { b: { c: {} } } });
console.groupEnd();
console.groupEnd();
console.log("out");
return null;
//> value: null
//> stdout: "top"
//> stdout: "Group"
//> stdout: "  inside"
//> stdout: "    deeper\n    second line"
//> stdout: "  { a: { b: { c: {} } } }"
//> stdout: "out"
//> stderr: "    other stream"
