//! time = 0
const order = [];
await new Promise(done => {
  setTimeout(() => { order.push("timer"); done(); }, 0);
  queueMicrotask(() => order.push("microtask"));
  Promise.resolve().then(() => order.push("then"));
  order.push("sync");
});
return order;
//> value: ["sync","microtask","then","timer"]
