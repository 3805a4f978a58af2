//! time = 0
const sleep = ms => new Promise(resolve => setTimeout(resolve, ms));
let tries = 0;
async function retry(work) {
  for (let wait = 100; ; wait *= 2) {
    try { return await work(); } catch { await sleep(wait); }
  }
}
const value = await retry(async () => { if (++tries < 4) throw new Error("again"); return "ok"; });
return [value, tries, Date.now()];
//> value: ["ok",4,700]
