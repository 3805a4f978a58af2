let a, b;
a = (async () => { await null; await b; })();
b = (async () => { await null; await a; })();
await a;
//> error: stalled
