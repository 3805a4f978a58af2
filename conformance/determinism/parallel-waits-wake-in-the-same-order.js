//! seed = 1
//! time = 0
const order = [];
await Promise.all([5, 3, 5, 1, 3].map(async (ms, i) => {
  await new Promise(resolve => setTimeout(resolve, ms));
  order.push(i);
}));
return order;
//> value: [3,1,4,0,2]
