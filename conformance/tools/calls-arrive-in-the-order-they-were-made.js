//! tools = ["inc"]
const a = await tools.inc();
const b = await tools.inc();
const c = await tools.inc();
return [b - a, c - b];
//> value: [1,1]
