Promise.reject(new Error("nobody listens"));
await null;
return "fine";
//> value: "fine"
