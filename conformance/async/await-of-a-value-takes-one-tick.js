const order = [];
const a = (async () => { await 1; order.push("await"); })();
const b = Promise.resolve().then(() => order.push("then 1")).then(() => order.push("then 2"));
await Promise.all([a, b]);
return order;
//> value: ["await","then 1","then 2"]
