//! tools = ["echo"]
const out = [];
for (const name of ["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf", "__defineGetter__", "prototype", "then"]) {
  let own = false;
  try { own = Object.hasOwn(tools, name); } catch {}
  if (own) out.push(name);
}
return [out, await tools.echo("real")];
//> value: [[],"real"]
