//! time = 0
const order = [];
await new Promise(done => {
  for (const name of ["a", "b", "c", "d"]) setTimeout(() => { order.push(name); if (name === "d") done(); }, 5);
});
return order;
//> value: ["a","b","c","d"]
