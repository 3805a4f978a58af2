//! tools = ["fail"]
const RealError = Error;
globalThis.Error = function () { throw "tampered"; };
globalThis.TypeError = globalThis.RangeError = globalThis.Error;
try { await tools.fail("real"); } catch (error) { return [error instanceof RealError, error.message.includes("real")]; }
//> value: [true,true]
