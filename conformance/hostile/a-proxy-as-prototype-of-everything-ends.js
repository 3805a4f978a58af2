//! limits = { cpu_ms = 200, wall_ms = 5000 }
//! oracle = false
// What a guest does to its own prototypes may end its own run, and nothing else.
try { Object.setPrototypeOf(Array.prototype, new Proxy({}, { get(t, k, r) { return r[k]; } })); } catch {}
try { [].missing; } catch (error) { return error.name; }
return "ok";
//> any: value "RangeError" | value "ok" | error stack_overflow,thrown,cpu_limit
