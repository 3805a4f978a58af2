let depth = 0;
const f = () => { depth++; return f() + 1; };
try { f(); } catch (error) { return [error instanceof RangeError, error.name, depth > 100]; }
//> value: [true,"RangeError",true]
