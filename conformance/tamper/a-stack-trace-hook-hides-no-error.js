Error.prepareStackTrace = () => { throw new Error("tampered"); };
Error.stackTraceLimit = 0;
Error.captureStackTrace = () => {};
null.x;
//> error: thrown TypeError
