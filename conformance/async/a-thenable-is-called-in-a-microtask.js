const order = [];
const p = Promise.resolve({ then(resolve) { order.push("then called"); resolve(); } });
order.push("sync");
await p;
return order;
//> value: ["sync","then called"]
