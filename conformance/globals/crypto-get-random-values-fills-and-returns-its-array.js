const a = new Uint8Array(64);
const same = crypto.getRandomValues(a) === a;
return [same, a.some(x => x !== 0), new Set(a).size > 8, crypto.getRandomValues(new BigUint64Array(2)).length];
//> value: [true,true,true,2]
