//! tools = ["inc"]
const before = await tools.inc();
let name;
try { await tools.inc(1n); } catch (error) { name = error.name; }
return [name, await tools.inc() - before];
//> value: ["TypeError",1]
