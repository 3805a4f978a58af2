const order = [];
const a = (async () => Promise.resolve())().then(() => order.push("returned"));
let b = Promise.resolve();
for (let i = 1; i <= 4; i++) b = b.then(() => order.push(i));
await Promise.all([a, b]);
return order;
//> value: [1,2,"returned",3,4]
