console.trace("here");
console.log("only line");
return null;
//> value: null
//> stdout: "only line"
