console.log("first\n  second\n");
return null;
//> value: null
//> stdout: "first\n  second\n"
