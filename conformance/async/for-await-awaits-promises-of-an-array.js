const seen = [];
for await (const n of [Promise.resolve(1), 2, Promise.resolve(3)]) seen.push(n);
return seen;
//> value: [1,2,3]
