async function* inner() { yield "a"; return "r"; }
async function* outer() { const r = yield* inner(); yield r; }
const seen = [];
for await (const x of outer()) seen.push(x);
return seen;
//> value: ["a","r"]
