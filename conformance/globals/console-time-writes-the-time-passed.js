//! time = 0
//! oracle = false
// Node measures with its own clock; the form of the line is Node's.
console.time("work");
await new Promise(resolve => setTimeout(resolve, 250));
console.timeLog("work", "half", { a: 1 });
await new Promise(resolve => setTimeout(resolve, 1250));
console.timeEnd("work");
return null;
//> value: null
//> stdout: "work: 250ms half { a: 1 }"
//> stdout: "work: 1.500s"
