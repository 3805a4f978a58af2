//! time = 0
let running = 0, peak = 0;
const jobs = Array.from({ length: 9 }, (_, i) => i);
const done = [];
const worker = async () => {
  for (let job; (job = jobs.shift()) !== undefined;) {
    peak = Math.max(peak, ++running);
    await new Promise(resolve => setTimeout(resolve, 10));
    running--;
    done.push(job);
  }
};
await Promise.all([worker(), worker(), worker()]);
return [peak, done.length, Date.now()];
//> value: [3,9,30]
