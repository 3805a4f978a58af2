const error = new RangeError("no frames");
error.stack = "RangeError: no frames";
console.log(error, { error });
return null;
//> value: null
//> stdout: "[RangeError: no frames] { error: [RangeError: no frames] }"
