//! limits = { cpu_ms = 100, wall_ms = 10000 }
console.log("one");
console.log("two");
for (;;);
//> error: cpu_limit
//> stdout: "one"
//> stdout: "two"
