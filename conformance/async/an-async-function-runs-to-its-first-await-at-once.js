const order = [];
async function f() { order.push("in"); await null; order.push("after"); }
const p = f();
order.push("out");
await p;
return order;
//> value: ["in","out","after"]
