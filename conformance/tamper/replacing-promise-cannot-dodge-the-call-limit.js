//! tools = ["inc"]
//! limits = { calls = 5, cpu_ms = 1000, wall_ms = 10000 }
//! oracle = false
// Node has no call limit.
Promise.prototype.then = function () { return this; };
Array.prototype.push = Map.prototype.set = () => {};
for (let i = 0; i < 50; i++) tools.inc();
return "never";
//> error: call_limit
