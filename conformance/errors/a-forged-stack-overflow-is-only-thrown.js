//! oracle = false
// The oracle knows a stack overflow by its message; the runtime must not.
throw new RangeError("Maximum call stack size exceeded");
//> error: thrown RangeError
//> message: "Maximum call stack size exceeded"
