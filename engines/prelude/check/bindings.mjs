// The hooks that an engine gets back.
export default async function check({ fresh, is }) {
  const calls = [];
  const guest = fresh({ call: (name, payload) => { calls.push([name, payload]); return `${name} done`; } });
  is('bindings', 'nothing is granted at first', guest.run('[Object.keys(tools), Object.isFrozen(tools), typeof input, "input" in globalThis, typeof tools.anything]'), [[], true, 'undefined', true, 'undefined']);
  guest.configure(guest.run('({ tools: ["add", "constructor", "get-weather"], input: { a: 1 }, args: { city: "Bern", n: 3 } })'));
  is('bindings', 'a tool answers', await guest.run('tools.add({ x: 1 }, "ignored")'), 'add done');
  is('bindings', 'and by its other name', await guest.run('external_add(5)'), 'add done');
  await guest.run('tools.add()');
  is('bindings', 'exactly the first argument is sent', calls, [['add', '{"x":1}'], ['add', '5'], ['add', undefined]]);
  is('bindings', 'names that were not granted are undefined', guest.run('[tools.nope, tools.__proto__, tools.toString, tools.hasOwnProperty].map((x) => typeof x)'), Array(4).fill('undefined'));
  is('bindings', 'a granted name may be anything', guest.run('[typeof tools.constructor, tools.constructor.name, typeof globalThis["external_get-weather"], tools.add.length]'), ['function', 'constructor', 'function', 1]);
  is('bindings', 'tools cannot be changed', guest.run('(() => { "use strict"; try { tools.add = 1; } catch (e) { return e.name; } })()'), 'TypeError');
  is('bindings', 'input and arguments', guest.run('[input, city, n]'), [{ a: 1 }, 'Bern', 3]);
  is('bindings', 'what JSON cannot carry rejects', await guest.run('tools.add(10n).then(() => "sent", (e) => e.name)'), 'TypeError');
  is('bindings', 'the list of tools', guest.run('Object.keys(tools)'), ['add', 'constructor', 'get-weather']);

  const asked = [];
  const spaced = fresh({ call: (name, payload) => { asked.push([name, payload]); return `${name} done`; } });
  spaced.configure(spaced.run('({ tools: ["add", "describe", "taken", "many_a"], namespaces: ["many", "taken", "many.a", "many.b", "many.toString", "taken.x"] })'));
  is('bindings', 'a function of a namespace answers', await spaced.run('tools.many.list({ x: 1 }, "ignored")'), 'many.list done');
  is('bindings', 'one that is granted by name has a twin', await spaced.run('external_many_b(5)'), 'many.b done');
  is('bindings', 'a tool keeps its name', await spaced.run('Promise.all([external_many_a(), tools.taken(), tools.describe()])'), ['many_a done', 'taken done', 'describe done']);
  is('bindings', 'the calls of a namespace', asked.splice(0), [['many.list', '{"x":1}'], ['many.b', '5'], ['many_a', undefined], ['taken', undefined], ['describe', undefined]]);
  is('bindings', 'a function is the same each time', spaced.run('[tools.many.b === tools.many.b, tools.many.b === external_many_b, tools.many.b === tools.many.a, tools.many.b.name, tools.many.b.length]'), [true, true, false, 'b', 1]);
  is('bindings', 'what is no name of a tool is undefined', spaced.run('["then", "toJSON", "constructor", "toString", "valueOf", "hasOwnProperty", "__proto__", "", "a-b", "1a", "a.b", "é", "x".repeat(65), Symbol.iterator, Symbol.toPrimitive, Symbol("a"), 5].map((key) => tools.many[key]).filter((x) => x !== undefined).length'), 0);
  is('bindings', 'names that a tool may have', spaced.run('["$", "_1", "call", "name", "length", "x".repeat(64)].map((key) => tools.many[key].name.length)'), [1, 2, 4, 4, 6, 64]);
  is('bindings', 'a namespace can be awaited, told apart and written as JSON', await spaced.run('(async () => [(await tools.many) === tools.many, tools.many === tools.many, JSON.stringify(tools), typeof tools.many, Object.keys(tools.many), "b" in tools.many])()'), [true, true, '{"many":{}}', 'object', [], false]);
  spaced.run('console.log(tools.many, { n: tools.many })');
  is('bindings', 'a namespace can be printed', spaced.stdout(), ['[Object: null prototype] {} { n: [Object: null prototype] {} }']);
  const changes = ['tools.many.b = 1', 'delete tools.many', 'Object.defineProperty(tools.many, "b", { value: 1 })', 'Object.setPrototypeOf(tools.many, {})', 'tools.other = 1'];
  is('bindings', 'a namespace cannot be changed', spaced.run(`[Object.isFrozen(tools.many), typeof tools.many.b, ...${JSON.stringify(changes)}.map((code) => { try { return (0, eval)('"use strict"; ' + code); } catch (e) { return e.name; } })]`), [true, 'function', ...changes.map(() => 'TypeError')]);
  is('bindings', 'none of this asked anything', asked.splice(0), []);
  await spaced.run('Promise.all([tools.search("a b"), tools.search("a", 3), tools.search({ query: "q", limit: 1 }), tools.search()])');
  is('bindings', 'search takes words or an object', asked.splice(0), ['{"query":"a b"}', '{"query":"a","limit":3}', '{"query":"q","limit":1}', '{}'].map((args) => ['tools.search', args]));
  const plain = fresh({ call: (name, payload) => { asked.push([name, payload]); } });
  plain.configure(plain.run('({ tools: [], namespaces: ["search", "n"] })'));
  await plain.run('Promise.all([tools.describe("n.x"), tools.search.it()])');
  is('bindings', 'a namespace keeps its name too', [plain.run('[typeof tools.search, Object.keys(tools)]'), asked.splice(0)], [['object', ['search', 'n', 'describe']], [['tools.describe', '{"path":"n.x"}'], ['search.it', undefined]]]);

  const bodies = new Map([[1, new TextEncoder().encode('{"a":"é"}')], [2, new Uint8Array(200_000).fill(7)], [3, new Uint8Array([0xef, 0xbb, 0xbf, 0x61])], [4, new Uint8Array(0)], [5, new Uint8Array([1, 2, 3])], [6, new Uint8Array([104, 105])], [7, new Uint8Array([104, 105])]]);
  const other = fresh({ bodies });
  const give = (name, id, length) => { other.run(`(v) => { globalThis.${name} = v; }`)(other.hooks.makeBody(id, length)); };
  give('b1', 1, 10);
  is('bindings', 'a body as JSON, once', await other.run('(async () => [b1.size, b1.bodyUsed, await b1.json(), b1.bodyUsed, await b1.text().catch((e) => e.name)])()'), [10, false, { a: 'é' }, true, 'TypeError']);
  give('b2', 2, null);
  is('bindings', 'a body in chunks', await other.run('(async () => { let n = 0, total = 0; for await (const c of b2) { n++; total += c.length; } return [b2.size, n, total, b2.bodyUsed]; })()'), [null, 4, 200_000, true]);
  give('b3', 3, 4);
  is('bindings', 'a byte order mark goes', await other.run('b3.text()'), 'a');
  give('b4', 4, 0);
  is('bindings', 'an empty body', await other.run('b4.arrayBuffer().then((b) => b.byteLength)'), 0);
  give('b5', 5, 3);
  is('bindings', 'bytes', [...await other.run('b5.bytes()')], [1, 2, 3]);
  give('b6', 6, 2);
  is('bindings', 'a response over a body, cloned', await other.run('(async () => { const r = new Response(b6); const c = r.clone(); return [await r.text(), await c.text(), b6.bodyUsed]; })()'), ['hi', 'hi', true]);
  give('b7', 7, 2);
  is('bindings', 'an early break ends it', await other.run('(async () => { for await (const c of b7) break; try { for await (const c of b7); } catch (e) { return e.name; } })()'), 'TypeError');

  const error = (...values) => { other.run('(v) => { globalThis.e = v; }')(other.hooks.makeError(...values)); return other.run('[e instanceof Error, e.constructor.name, e.name, e.message, e.code, Object.keys(e)]'); };
  is('bindings', 'a built-in error', error('TypeError', 'm', undefined), [true, 'TypeError', 'TypeError', 'm', undefined, []]);
  is('bindings', 'an error with a code', error('RangeError', 'm', 'x.y'), [true, 'RangeError', 'RangeError', 'm', 'x.y', ['code']]);
  is('bindings', 'an error of another name', error('SandboxViolation', 'm', 'egress.host'), [true, 'Error', 'SandboxViolation', 'm', 'egress.host', ['code']]);
  is('bindings', 'a name that is a property of objects', error('constructor', 'm'), [true, 'Error', 'constructor', 'm', undefined, []]);
}
