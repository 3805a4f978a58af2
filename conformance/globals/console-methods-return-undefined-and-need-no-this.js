const { log, warn } = console;
const results = [log("a"), warn("b"), ["x"].forEach(log)];
return results.every(r => r === undefined);
//> value: true
//> stdout: "a"
//> stdout: "x 0 [ 'x' ]"
//> stderr: "b"
