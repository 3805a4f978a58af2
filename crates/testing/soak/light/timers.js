//! time = 0
//! seed = 1
let n = 0;
await new Promise(resolve => {
  const timer = setInterval(() => {
    if (++n < 50) return;
    clearInterval(timer);
    resolve();
  }, 1000);
});
return [n, Date.now()];
//> value: [50,50000]
