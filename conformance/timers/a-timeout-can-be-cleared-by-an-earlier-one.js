//! time = 0
const fired = [];
const id = setTimeout(() => fired.push("second"), 10);
setTimeout(() => { fired.push("first"); clearTimeout(id); }, 10 - 1);
await new Promise(resolve => setTimeout(resolve, 20));
return fired;
//> value: ["first"]
