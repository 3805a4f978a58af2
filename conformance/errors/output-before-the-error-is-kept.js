console.log("one");
console.warn("two");
throw new Error("three");
//> error: thrown Error
//> stdout: "one"
//> stderr: "two"
