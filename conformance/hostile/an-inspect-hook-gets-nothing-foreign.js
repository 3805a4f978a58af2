//! oracle = false
// Node is no sandbox.
let got = 0;
const hook = Symbol.for("nodejs.util.inspect.custom");
console.error({ [hook](depth, options, inspect) { for (const x of [depth, options, inspect]) { try { if (x.constructor.constructor("return typeof process")() !== "undefined") got++; } catch {} } return "custom"; } });
return got;
//> value: 0
