import { HostResponse } from './load.mjs';

// A guest that redefines everything it can reach loses no output, forges no result and breaks no binding.
const spoil = `
  const noop = () => { throw new Error('spoiled'); };
  Array.prototype.push = Array.prototype.join = String.prototype.replace = null;
  JSON.stringify = () => 'x';
  JSON.parse = () => 'x';
  Object.prototype.toString = null;
  Map.prototype.get = null;
`;
const spoilMore = `
  const keep = { log: console.log, error: console.error, table: console.table, keys: Reflect.ownKeys, define: Reflect.defineProperty, Proto: Object.getPrototypeOf };
  const targets = [String.prototype, Number.prototype, Boolean.prototype, Symbol.prototype, BigInt.prototype, Map.prototype, Set.prototype, WeakMap.prototype, Date.prototype, RegExp.prototype,
    Promise.prototype, Error.prototype, Object.getPrototypeOf(Uint8Array.prototype), ArrayBuffer.prototype, DataView.prototype, Object.getPrototypeOf([][Symbol.iterator]()), Object.getPrototypeOf(new Map().entries()),
    Function.prototype, Math, JSON, Reflect, Promise, Number, Array, String, Date, Array.prototype];
  const done = [];
  for (const target of targets) done[done.length] = target;
  const ownKeys = keep.keys, gopd = Object.getOwnPropertyDescriptor, define = keep.define;
  for (let t = 0; t < done.length; t++) {
    const holder = done[t];
    const keys = ownKeys(holder);
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i];
      const d = gopd(holder, key);
      if (!d.configurable || key === 'constructor') continue;
      if (typeof d.value === 'function') define(holder, key, { __proto__: null, value() { throw new Error('spoiled'); }, configurable: true, writable: true });
      else if (d.get) define(holder, key, { __proto__: null, get() { throw new Error('spoiled'); }, configurable: true });
    }
  }
  const G = globalThis, AP = Array.prototype, OP = Object.prototype, toPrimitive = Symbol.toPrimitive, Failure = Error;
  for (const name in { Array: 0, Object: 0, Map: 0, Set: 0, WeakMap: 0, Promise: 0, Uint8Array: 0, TypeError: 0, RangeError: 0, Error: 0, Date: 0, Reflect: 0, JSON: 0, Math: 0, Symbol: 0, String: 0, Number: 0, RegExp: 0, Function: 0, URL: 0, Headers: 0, EventTarget: 0, DOMException: 0 }) G[name] = null;
  for (let i = 0; i < 20; i++) define(AP, i, { __proto__: null, set() { throw new Failure('index setter'); }, get() { return 'forged'; }, configurable: true });
  define(OP, 'get', { __proto__: null, value: () => 'forged', configurable: true, writable: true });
  define(OP, 'value', { __proto__: null, set() { throw new Failure('setter'); }, get() { return 'forged'; }, configurable: true });
  define(OP, 'then', { __proto__: null, value: undefined, configurable: true, writable: true });
  define(OP, toPrimitive, { __proto__: null, value: undefined, configurable: true, writable: true });
`;
const things = `{ a: 1, b: [1, 2, 3, 4, 5, 6, 7, 8], m: new Map([[1, 'x']]), s: new Set([2]), d: new Date(0), r: /x/g, u: new Uint8Array([1, 2]), f() {}, n: null, e: { deep: { er: { x: 1 } } }, p: Promise.resolve(3), big: 10n, sy: Symbol('q'), url: new URL('http://a/?b=c') }`;

export default async function check({ fresh, is }) {
  const calm = fresh();
  calm.run(`console.log(${things}); console.error('e %s %d %j %o', 'x', 5, {a: 1}, [1]); console.table([{ a: 1 }, { b: 'x' }]);`);
  const wanted = calm.lines;

  const first = fresh();
  first.run(spoil);
  first.run(`console.log(${things}); console.error('e %s %d %j %o', 'x', 5, {a: 1}, [1]); console.table([{ a: 1 }, { b: 'x' }]);`);
  is('tamper', 'output is the same after the named replacements', first.lines, wanted);

  const second = fresh();
  second.run(`globalThis.things = ${things};`);
  second.run(`(() => { ${spoilMore} keep.log(things); keep.error('e %s %d %j %o', 'x', 5, {a: 1}, [1]); keep.table([{ a: 1 }, { b: 'x' }]); })()`);
  is('tamper', 'output is the same after every replacement', second.lines, wanted);

  const late = fresh();
  late.run('globalThis.URL_ = URL; globalThis.H = Headers; globalThis.TE = TextEncoder; globalThis.TD = TextDecoder; globalThis.P = URLSearchParams; globalThis.ET = EventTarget; globalThis.EV = Event; globalThis.SC = structuredClone; globalThis.NF = Intl.NumberFormat; globalThis.DF = Intl.DateTimeFormat; globalThis.B = btoa; globalThis.A = atob; globalThis.C = crypto; globalThis.AC = AbortController;');
  const result = late.run(`(() => { ${spoilMore}
    const out = [];
    let n = 0;
    const add = (x) => { define(out, n, { __proto__: null, value: x, enumerable: true, configurable: true, writable: true }); n++; };
    add(new URL_('http://exämple.com:80/a/../b?x=1#y').href);
    add(new P('a=1&b=%20').toString());
    add(new H({ 'X-A': '1' }) !== null);
    add(new TD().decode(new TE().encode('é')));
    add(B(A('aGVsbG8=')));
    add(SC({ a: 'x' }).a);
    add(new NF('de-DE').format(1234567.5));
    add(new DF('en-US').format(0));
    add(C.randomUUID().length);
    const t = new ET(); let seen = 0; t.addEventListener('x', () => { seen++; }); t.dispatchEvent(new EV('x')); add(seen);
    const ac = new AC(); ac.abort('why'); add(ac.signal.reason);
    return out; })()`);
  is('tamper', 'the classes still work', Object.values(result), ['http://xn--exmple-cua.com/b?x=1#y', 'a=1&b=+', true, 'é', 'aGVsbG8=', 'x', '1.234.567,5', '1/1/1970', 36, 1, 'why']);

  const hooked = fresh({ call: () => 'ok' });
  hooked.run(`(() => { ${spoilMore} })()`);
  const body = hooked.hooks.makeError('TypeError', 'm', 'c');
  is('tamper', 'errors of the host keep their class', [body.message, body.code], ['m', 'c']);

  // Bindings: what is asked and what comes back is the same after every replacement.
  const uses = `
    const keptFetch = fetch, keptFiles = files, keptKv = kv, keptInvoke = invoke, keptSecrets = secrets;
    const work = async () => {
      const r = await keptFetch('http://h/p?q#f', { method: 'put', headers: { 'X-A': 'b' }, body: 'text' });
      say(r.status + ' ' + r.headers.get('x-b') + ' ' + await r.text());
      const plain = await keptFetch('http://h/plain');
      say(plain.status + ' ' + plain.url + ' ' + plain.type + ' ' + plain.headers.get('x-b') + ' ' + (await plain.clone().json()).n + ' ' + await plain.text());
      const up = await keptFetch('http://h/up', { method: 'POST', body: (async function* () { yield chunk; })() });
      say('up ' + up.status);
      say('kv ' + await keptKv.put('k', { a: 1 }, { ttl: 1 }) + await keptKv.get('k'));
      let keys = ''; const all = keptKv.keys('p'); for (let step = await all.next(); !step.done; step = await all.next()) keys += step.value;
      say('keys ' + keys);
      say('files ' + await keptFiles.write('f', 'data') + await keptFiles.readText('f') + (await keptFiles.list()).length);
      say('invoke ' + await keptInvoke('p', { x: 1 }) + await keptSecrets.get('s'));
      try { await keptKv.get(5); } catch (e) { say('error ' + e.message); }
    };
    work();`;
  const bound = (before) => {
    const asked = [];
    const answers = { get: [{ value: 'v' }], list: { keys: [{ key: 'x' }, { key: 'y' }], cursor: null, entries: [{ name: 'n' }] }, read: new Uint8Array([111, 107]), put: 2, write: 4 };
    let last = 0;
    const bodies = new Map([[1, new TextEncoder().encode('body')], [2, new TextEncoder().encode('body')]]);
    const guest = fresh({ bodies, ask: async (call, bytes) => {
      asked.push([JSON.stringify(call), bytes === undefined ? null : Buffer.from(bytes).toString()]);
      if (call.url === 'http://h/plain') return new HostResponse({ url: call.url, status: 200, statusText: '', headers: [['x-b', 'c']], redirected: false, body: null, length: 7 }, new TextEncoder().encode('{"n":1}'));
      if (call.kind === 'fetch') return { url: 'u', status: 200, statusText: '', headers: [['x-b', 'c']], redirected: false, body: call.streamed ? null : ++last, length: null };
      return call.op === undefined ? 'answer' : answers[call.op];
    } });
    guest.configure(guest.run('({ fetch: true, files: true, kv: ["a"], invoke: true, secrets: true })'));
    guest.run(`(() => { const chunk = new Uint8Array([104, 105]), say = console.log; ${before} ${uses} })()`);
    return new Promise((resolve) => { setTimeout(() => resolve([guest.stdout(), asked]), 100); });
  };
  const calmly = await bound('');
  is('tamper', 'the bindings were used at all', calmly[0].length, 8);
  is('tamper', 'bindings ask and give the same after every replacement', await bound(spoilMore), calmly);
  is('tamper', 'a toJSON on every object changes no call', await bound('Object.prototype.toJSON = Array.prototype.toJSON = () => 5;').then(([, asked]) => asked.map(([call]) => call.slice(0, 9)).every((start) => start.startsWith('{"'))), true);

  const hidden = fresh();
  hidden.configure(hidden.run('({ fetch: true, files: true, kv: ["a", "b"], invoke: true, secrets: true })'));
  is('tamper', 'nothing inside can be reached', hidden.run(`(() => {
    const seen = new Set(); const found = []; const queue = [[globalThis, 'globalThis', 0]];
    const bad = /^(native|hooks|nativeAsk|bindings|spaceMethods|configure|nativeOutput|showValue|makeDecimal)$/;
    while (queue.length) {
      const [value, path] = queue.pop();
      if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value)) continue;
      seen.add(value);
      for (const key of Reflect.ownKeys(value)) {
        const d = Object.getOwnPropertyDescriptor(value, key);
        if (bad.test(String(key))) found.push(path + '.' + String(key));
        if (String(key) === 'inside' || String(key) === 'isOne') found.push(path + '.' + String(key));
        for (const next of [d.value, d.get, d.set]) queue.push([next, path + '.' + String(key)]);
      }
      queue.push([Object.getPrototypeOf(value), path + '.__proto__']);
    }
    return found; })()`), []);
  const frames = fresh();
  is('tamper', 'frames give no function of the prelude away', frames.run(`(() => {
    const leaked = [];
    const own = new Set();
    const guestFunction = (f) => typeof f === 'function' && /guest|toString|handleEvent/.test(f.name);
    Error.prepareStackTrace = (error, sites) => { for (const site of sites) { const f = site.getFunction?.(); if (typeof f === 'function' && !guestFunction(f)) leaked.push(f.name); } return 'x'; };
    const tries = [function guest1() { new URL({ toString() { return new Error('in').stack; } }); }, function guest2() { new Headers({ a: { toString() { return new Error('in').stack; } } }); },
      function guest3() { new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([255])); }, function guest4() { btoa('\u20ac'); },
      function guest5() { const t = new EventTarget(); t.addEventListener('a', function guestL() { new Error('q').stack; }); t.dispatchEvent(new Event('a')); }];
    for (const one of tries) { try { one(); } catch (e) { e.stack; } }
    return leaked.filter((name) => name !== '');
  })()`), []);
  const thrown = fresh();
  thrown.run(`
    Object.defineProperty(Array.prototype, Symbol.iterator, { value() { throw 1; } });
    Object.defineProperty(Object.prototype, 'constructor', { get() { throw 1; } });
    console.log('still', { here: [1, 2, 3] });
    console.table([[1, 2]]);
    console.count(); console.group('g'); console.warn('w');
  `);
  is('tamper', 'a broken iterator or constructor does not matter', thrown.lines.length, 5);
}
