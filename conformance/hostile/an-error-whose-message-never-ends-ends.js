//! limits = { cpu_ms = 100, wall_ms = 5000 }
//! oracle = false
// Node has no CPU limit.
throw { toString() { for (;;); }, get message() { for (;;); }, get name() { for (;;); }, [Symbol.toPrimitive]() { for (;;); } };
//> any: error cpu_limit,thrown
