//! oracle = false
// Node has the modules.
const results = [];
for (const name of ["fs", "node:fs", "child_process", "qjs:os", "qjs:std", "os", "std", "https://example.com/x.js", "./x.js", "data:text/javascript,export default 1"]) {
  try { await import(name); results.push(name); } catch (error) { results.push(error instanceof Error); }
}
return results.every(r => r === true);
//> any: value true | error denied,thrown,syntax,unsupported
