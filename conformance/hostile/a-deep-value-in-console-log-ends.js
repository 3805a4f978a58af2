//! limits = { cpu_ms = 1000, memory_mb = 64, wall_ms = 5000 }
let o = {};
for (let i = 0; i < 50000; i++) o = { o };
console.log(o);
return "written";
//> value: "written"
//> stdout: "{ o: { o: { o: [Object] } } }"
