//! time = 0
const fail = (ms, text) => new Promise((_, reject) => setTimeout(reject, ms, new Error(text)));
try { await Promise.all([fail(20, "late"), fail(10, "early")]); } catch (error) { return error.message; }
//> value: "early"
