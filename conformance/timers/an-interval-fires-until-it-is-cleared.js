//! time = 0
const at = [];
await new Promise(done => {
  const id = setInterval(() => {
    at.push(Date.now());
    if (at.length === 4) { clearInterval(id); done(); }
  }, 25);
});
await new Promise(resolve => setTimeout(resolve, 100));
return at;
//> value: [25,50,75,100]
