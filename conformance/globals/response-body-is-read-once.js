const r = new Response("text");
const copy = r.clone();
await r.text();
try { await r.text(); } catch (error) { return [error.name, await copy.text()]; }
//> value: ["TypeError","text"]
