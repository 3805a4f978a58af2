const a = [1, 2, 3, 4];
Object.defineProperty(a, 1, { get() { a.length = 2; return "got"; }, configurable: true });
return [[].concat(a).length, a.join(), a.slice().length, a.flat().length, JSON.stringify(a)];
//> value: [4,"1,got",2,2,"[1,\"got\"]"]
