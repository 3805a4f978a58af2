//! tools = ["echo"]
//! oracle = false
// Node is no sandbox.
const reach = [globalThis, tools, tools.echo, console, console.log, setTimeout, URL, new Error("x"), Promise.resolve(), (async () => {}).constructor];
const found = [];
for (const start of reach) {
  for (const climb of [o => o.constructor.constructor, o => Object.getPrototypeOf(o).constructor.constructor]) {
    try { const F = climb(start); if (typeof F === "function" && F("return typeof process")() !== "undefined") found.push(start); } catch {}
  }
}
return found.length;
//> value: 0
