//! oracle = false
// Node is no sandbox.
function f() { return f.caller; }
let caller = null;
try { caller = f(); } catch {}
let outer = null;
try { outer = (function () { return arguments.callee.caller; })(); } catch {}
const outside = [caller, outer].filter(x => typeof x === "function" && x !== f).map(x => { try { return x.constructor("return typeof process")(); } catch { return "undefined"; } });
return outside.every(x => x === "undefined");
//> value: true
