const log = [];
async function* g() { try { yield 1; } finally { log.push("finally"); yield 2; } }
const it = g();
await it.next();
const a = await it.return({ then(resolve) { resolve("thenable"); } });
const b = await it.next();
const c = await it.return(Promise.reject(new Error("late"))).catch(error => error.message);
return [a, b, c, log];
//> value: [{"value":2,"done":false},{"value":"thenable","done":true},"late",["finally"]]
