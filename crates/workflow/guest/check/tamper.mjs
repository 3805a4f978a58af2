// A workflow that replaces what it can reach changes neither the numbers nor the names of its calls, nor what it is told.

import { run } from './load.mjs';

const WORK = `
  phase("P");
  const rev = profile({ model: "m", instructions: "Be terse." });
  const schema = z.object({ n: z.number().int().min(1), tags: z.array(z.string()).optional(), kind: z.enum(["a", "b"]) });
  const made = agent(rev, "\\n first line \\nmore", { schema, model: "other" });
  const rest = parallel([() => agent("two"), () => { throw 1; }, () => agent("x".repeat(60))]);
  const items = pipeline(["i", "j"], (it) => agent("stage " + it));
  log("said");
  await sleep("1s");
  const out = [await made, await rest, await items, await askUserQuestion({ question: "q?", default: "d" }), budget.spent(), budget.remaining()];
`;
const SPOIL = `
  const nothing = () => { throw new Error("spoiled"); };
  const holders = [Array.prototype, String.prototype, Number.prototype, RegExp.prototype, Map.prototype, WeakMap.prototype, Date.prototype, JSON, Reflect, Math, Object, Array, Number, Function.prototype];
  for (let h = 0; h < holders.length; h++) {
    const holder = holders[h], names = Object_names(holder);
    for (let i = 0; i < names.length; i++) {
      const found = Object_describe(holder, names[i]);
      if (names[i] !== "constructor" && names[i] !== "prototype" && found.configurable && typeof found.value === "function") Object_define(holder, names[i], { __proto__: null, value: nothing, writable: true, configurable: true });
    }
  }
  for (let i = 0; i < 9; i++) Object_define(Array.prototype, i, { __proto__: null, set: nothing, get: () => "forged", configurable: true });
  for (const name in { toJSON: 1, key: 1, label: 1, type: 1, error: 1, overrides: 1 }) Object_define(Object.prototype, name, { __proto__: null, set: nothing, get: () => () => "forged", configurable: true });
  Symbol.iterator; Array.prototype[Object_iterator] = nothing;
`;
const KEEP = `const Object_names = Object.getOwnPropertyNames, Object_describe = Object.getOwnPropertyDescriptor, Object_define = Object.defineProperty, Object_iterator = Symbol.iterator, texts = ["first"]; const done = { x: 0 };`;
const host = { agent: ({ schema }) => ({ ok: { text: 't', ...(schema ? { data: { n: 1, kind: 'a' } } : {}), outputTokens: 2 } }) };
const input = { budgetTotal: 100, args: { a: 1 } };

/** In a spoiled realm the workflow itself cannot use lists or texts any more; it says what it needs beforehand. */
const spoiledWork = `
  const thunks = [() => agent("two"), () => { throw 1; }, () => agent(long)], long = "x".repeat(60), items = ["i", "j"], kinds = ["a", "b"];
  const fields = { n: z.number().int().min(1), tags: z.array(z.string()).optional(), kind: z.enum(kinds) };
  ${SPOIL}
  phase("P");
  const rev = profile({ model: "m", instructions: "Be terse." });
  const schema = z.object(fields);
  const made = agent(rev, "\\n first line \\nmore", { schema, model: "other" });
  const rest = parallel(thunks);
  const staged = pipeline(items, (it) => agent("stage " + it));
  log("said");
  await sleep("1s");
  await made; await rest; await staged; await askUserQuestion({ question: "q?", default: "d" });
  globalThis.spent = budget.spent();
`;

export default {
  async 'calls are the same in a spoiled realm'(assert) {
    const calm = await run(`${WORK} return out;`, { host, input });
    const spoiled = await run(KEEP + spoiledWork, { host, input });
    assert.equal(calm.calls.length, 7);
    assert.deepEqual(spoiled.result, { outcome: 'finished', events: [] });
    assert.deepEqual(spoiled.calls, calm.calls);
  },
  async 'a replaced map or iterator does not renumber calls'(assert) {
    const { calls } = await run('Array.prototype.map = () => [1]; Array.prototype[Symbol.iterator] = null; await parallel([() => agent("a"), () => agent("b")]);');
    assert.deepEqual(calls.map(({ key }) => key), ['0:default:a', '1:default:b']);
  },
  async 'what the workflow was given cannot be replaced'(assert) {
    const { result } = await run('const set = (f) => { try { f(); return "changed"; } catch { return "kept"; } }; return [set(() => { budget.spent = () => 0; }), set(() => { z.string = 1; }), set(() => { z.string().x = 1; }), set(() => { args.a = 2; }), set(() => { tools.workflow = 1; })];', { input });
    assert.deepEqual(result.value, ['kept', 'kept', 'kept', 'kept', 'kept']);
  },
};
