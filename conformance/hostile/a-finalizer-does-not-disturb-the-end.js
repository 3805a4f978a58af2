//! limits = { cpu_ms = 500, wall_ms = 5000 }
console.log("before");
const registry = new FinalizationRegistry(() => console.log("finalized"));
(() => { for (let i = 0; i < 10; i++) registry.register({}, i, {}); })();
return "returned";
//> any: value "returned" | error thrown
