//! tools = ["slow", "inc"]
console.log("before");
tools.slow({ ms: 10 }).then(() => { console.log("after"); return tools.inc(); });
return "returned";
//> value: "returned"
//> stdout: "before"
