function* g() { try { const x = yield 1; yield x * 2; } finally { yield "cleanup"; } }
const it = g();
return [it.next(), it.next(21), it.return("r"), it.next()];
//> value: [{"value":1,"done":false},{"value":42,"done":false},{"value":"cleanup","done":false},{"value":"r","done":true}]
