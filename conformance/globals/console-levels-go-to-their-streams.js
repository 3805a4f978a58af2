console.log("log");
console.info("info");
console.debug("debug");
console.warn("warn");
console.error("error");
return null;
//> value: null
//> stdout: "log"
//> stdout: "info"
//> stdout: "debug"
//> stderr: "warn"
//> stderr: "error"
