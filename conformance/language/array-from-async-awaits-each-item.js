async function* g() { yield 1; yield Promise.resolve(2); }
return [await Array.fromAsync(g()), await Array.fromAsync([Promise.resolve(3)], async x => x + 1)];
//> value: [[1,2],[4]]
