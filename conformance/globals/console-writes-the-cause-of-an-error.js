const cause = new Error("inner");
cause.stack = "Error: inner\n    at inner";
const error = new Error("outer", { cause });
error.stack = "Error: outer\n    at outer";
console.log(error);
return null;
//> value: null
//> stdout: "Error: outer\n    at outer {\n  [cause]: Error: inner\n      at inner\n}"
