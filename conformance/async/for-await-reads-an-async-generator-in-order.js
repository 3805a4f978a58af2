async function* count() { for (let i = 1; i <= 3; i++) { await null; yield i; } }
const seen = [];
for await (const n of count()) seen.push(n);
return seen;
//> value: [1,2,3]
