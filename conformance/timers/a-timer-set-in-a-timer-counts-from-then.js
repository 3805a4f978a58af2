//! time = 0
const at = [];
await new Promise(done => setTimeout(() => {
  at.push(Date.now());
  setTimeout(() => { at.push(Date.now()); done(); }, 10);
}, 10));
return at;
//> value: [10,20]
