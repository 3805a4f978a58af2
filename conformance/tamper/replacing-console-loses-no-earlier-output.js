console.log("before");
globalThis.console = { log() {}, error() {} };
console.log("swallowed by the program itself");
return "done";
//> value: "done"
//> stdout: "before"
