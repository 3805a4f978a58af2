const late = Promise.reject(new Error("handled"));
queueMicrotask(() => late.catch(() => {}));
await Promise.allSettled([1, 2, 3].map(async (n) => { throw n; }));
try { await (async () => { throw 1; })(); } catch {}
console.error("mark");
return "fine";
//> value: "fine"
//> stderr: "mark"
