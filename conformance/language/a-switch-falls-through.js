const run = x => { const out = []; switch (x) { case 1: out.push("one"); case 2: out.push("two"); break; default: { let out2 = "d"; out.push(out2); } case 3: out.push("three"); } return out; };
return [run(1), run(2), run(9)];
//> value: [["one","two"],["two"],["d","three"]]
