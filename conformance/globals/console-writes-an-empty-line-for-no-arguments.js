console.log();
console.log("");
return null;
//> value: null
//> stdout: ""
//> stdout: ""
