//! namespaces = ["n.*"]
//! oracle = false
const tries = [
  () => { "use strict"; tools.n = 1; },
  () => { "use strict"; tools.n.echo = 1; },
  () => { "use strict"; delete tools.n; },
  () => Object.defineProperty(tools.n, "echo", { value: 1 }),
  () => Object.setPrototypeOf(tools.n, { echo: 1 }),
];
const caught = tries.map((attempt) => { try { attempt(); return "done"; } catch (error) { return error.name; } });
return [caught, Object.isFrozen(tools.n), await tools.n.echo(1)];
//> value: [["TypeError","TypeError","TypeError","TypeError","TypeError"],true,1]
