//! time = 0
console.log("before");
setTimeout(() => console.log("never"), 10);
setInterval(() => console.log("never"), 10);
return "done";
//> value: "done"
//> stdout: "before"
