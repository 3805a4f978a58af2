const error = new Error("boom");
error.stack = "Error: boom\n    at somewhere";
console.log(error);
return null;
//> value: null
//> stdout: "Error: boom\n    at somewhere"
