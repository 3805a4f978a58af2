async function* g() { const a = yield 1; const b = yield a; return b; }
const it = g();
return Promise.all([it.next(), it.next("a"), it.next("b"), it.next()]);
//> value: [{"value":1,"done":false},{"value":"a","done":false},{"value":"b","done":true},{"done":true}]
