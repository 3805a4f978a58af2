//! time = 0
const order = [];
await Promise.all([30, 10, 20].map(ms => new Promise(resolve => setTimeout(() => { order.push([ms, Date.now()]); resolve(); }, ms))));
return order;
//> value: [[10,10],[20,20],[30,30]]
