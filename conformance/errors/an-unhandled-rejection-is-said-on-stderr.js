//! oracle = false
// Node ends the process.
Promise.reject({ code: 7 });
await null;
return "fine";
//> value: "fine"
//> stderr: "Uncaught (in promise) { code: 7 }"
