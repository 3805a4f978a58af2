//! time = 0
//! oracle = false
// An uncaught error of a callback may fail the run or be reported; either way nothing else is disturbed.
setTimeout(() => { throw new TypeError("in a timer"); }, 1);
await new Promise(resolve => setTimeout(resolve, 10));
return "went on";
//> any: value "went on" | error thrown
