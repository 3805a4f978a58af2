//! time = 0
const order = [];
Date.now = () => 1e15;
performance.now = () => -1;
await Promise.all([20, 10].map(ms => new Promise(resolve => setTimeout(() => { order.push(ms); resolve(); }, ms))));
return [order, new Date().getTime()];
//> value: [[10,20],20]
