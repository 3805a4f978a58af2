console.count();
console.count();
console.count("x");
console.countReset();
console.count();
console.count("x");
return null;
//> value: null
//> stdout: "default: 1"
//> stdout: "default: 2"
//> stdout: "x: 1"
//> stdout: "default: 1"
//> stdout: "x: 2"
