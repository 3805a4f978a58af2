//! time = 0
//! oracle = false
// The model of the oracle does not check; Node and the standard both refuse text or run it, and running text is out.
try { setTimeout("globalThis.ran = 1", 1); } catch (error) { return error.name; }
await new Promise(resolve => setTimeout(resolve, 10));
return globalThis.ran === undefined ? "TypeError" : "text was run";
//> value: "TypeError"
