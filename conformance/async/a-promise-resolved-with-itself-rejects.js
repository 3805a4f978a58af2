let resolve;
const p = new Promise(r => { resolve = r; });
resolve(p);
try { await p; } catch (error) { return error instanceof TypeError; }
//> value: true
