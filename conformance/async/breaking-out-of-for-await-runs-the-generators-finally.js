const log = [];
async function* source() { try { yield 1; yield 2; } finally { await null; log.push("closed"); } }
for await (const n of source()) { log.push(n); break; }
return log;
//> value: [1,"closed"]
