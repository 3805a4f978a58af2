//! tools = ["fail", "inc"]
let failures = 0;
for (let i = 0; i < 3; i++) { try { await tools.fail(`try ${i}`); } catch { failures++; } }
const a = await tools.inc(), b = await tools.inc();
return [failures, b - a];
//> value: [3,1]
