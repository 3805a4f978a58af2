class P extends Promise { static get [Symbol.species]() { return function (run) { run(() => {}, () => {}); return {}; }; } }
return new P(resolve => resolve(9));
//> any: value 9 | error thrown,stalled,timeout
