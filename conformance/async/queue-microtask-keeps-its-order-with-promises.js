const order = [];
Promise.resolve().then(() => order.push("a"));
queueMicrotask(() => order.push("b"));
Promise.resolve().then(() => order.push("c"));
await null;
await null;
return order;
//> value: ["a","b","c"]
