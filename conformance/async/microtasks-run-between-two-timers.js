//! time = 0
const order = [];
await new Promise(done => {
  setTimeout(() => { order.push("timer 1"); Promise.resolve().then(() => order.push("then 1")); }, 5);
  setTimeout(() => { order.push("timer 2"); done(); }, 5);
});
return order;
//> value: ["timer 1","then 1","timer 2"]
