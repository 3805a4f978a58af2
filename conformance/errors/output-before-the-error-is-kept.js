console.log("one");
console.warn("two");
throw new Error("three");
//> error: thrown Error
//> message: "three"
//> stdout: "one"
//> stderr: "two"
