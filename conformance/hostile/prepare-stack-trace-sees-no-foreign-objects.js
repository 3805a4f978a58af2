//! oracle = false
// Node is no sandbox.
let seen = 0;
Error.prepareStackTrace = (error, frames) => {
  if (!Array.isArray(frames)) return "none";
  for (const frame of frames) {
    for (const name of ["getThis", "getFunction"]) {
      const value = frame?.[name]?.();
      try { if (value && value.constructor.constructor("return typeof process")() !== "undefined") seen++; } catch {}
    }
  }
  return "prepared";
};
const stack = new Error("x").stack;
return [seen, typeof stack];
//> value: [0,"string"]
