// structuredClone.
import util from 'node:util';

const values = String.raw`
5
'x'
null
undefined
12n
true
{a: 1, b: {c: [1, 2, {d: 3}]}}
[1, , 3]
Object.assign([1], {x: 2})
new Date(5)
new Date(NaN)
/a\/b/giu
Object.assign(/x/g, {lastIndex: 3}).lastIndex
new Map([[1, {a: 2}], [{k: 1}, 3]])
new Set([1, {a: 2}])
new Number(3)
new String('x')
new Boolean(false)
Object(5n)
new Uint8Array([1, 2, 3])
new Uint16Array(new Uint8Array([1, 2, 3, 4]).buffer, 2, 1)
new Float64Array([1.5])
new BigInt64Array([1n])
new DataView(new ArrayBuffer(4), 1, 2).byteLength
new Uint8Array([1, 2]).buffer
new Error('m')
new TypeError('t')
new (class Foo extends RangeError {})('sub')
Object.assign(new Error('x'), {name: 'Custom'})
Object.assign(new Error('x'), {extra: 1})
new (class Foo { constructor() { this.a = 1; } get b() { return 2; } })()
Object.create({inherited: 1})
Object.create(null)
{get a() { return 7; }}
Object.defineProperty({a: 1}, 'hidden', {value: 2})
{[Symbol('s')]: 1, a: 2}
(() => { const a = {}; a.self = a; return a; })()
(() => { const a = {x: 1}; return [a, a]; })()
(() => { const m = new Map(); m.set('m', m); return m; })()
(function () { return arguments; })(1, 2)
() => {}
Symbol('s')
{f() {}}
[Symbol('s')]
new WeakMap()
new WeakSet()
new WeakRef({})
Promise.resolve(1)
(function* () {})()
Object(Symbol('x'))
new Proxy({}, {})
new AbortController()
`.trim().split('\n');

const frames = (text) => text.replace(/(\n *at [^\n}]*[^\n},])+/g, '\n    at <frames>');

export default async function check({ fresh, is, same }) {
  const guest = fresh();
  for (const text of values) {
    guest.clear();
    guest.run(`try { console.log(structuredClone((${text}))); } catch (e) { console.log(e.name, e.code); }`);
    let wanted;
    try {
      wanted = util.format(structuredClone((0, eval)(`(${text})`)));
    } catch (error) {
      wanted = util.format(error.name, error.code);
    }
    is('clone', text, frames(guest.stdout().join('\n')), frames(wanted));
  }
  await same('clone', String.raw`
(() => { const a = {d: new Date(1)}; const b = structuredClone(a); return [a.d !== b.d, b.d instanceof Date]; })()
(() => { const a = {x: {}}; a.y = a.x; const b = structuredClone(a); return b.x === b.y; })()
(() => { const buf = new ArrayBuffer(2); const b = structuredClone([new Uint8Array(buf), new Uint8Array(buf)]); return b[0].buffer === b[1].buffer; })()
structuredClone()
(() => { try { structuredClone(() => {}); } catch (e) { return [e instanceof DOMException, e.message, e.code]; } })()
(() => { try { structuredClone({a: Symbol('q')}); } catch (e) { return e.message; } })()
structuredClone(1, {transfer: [1]})
structuredClone(1, {transfer: [{}]})
(() => { const b = new ArrayBuffer(1); return structuredClone(1, {transfer: [b, b]}); })()
(() => { const e = structuredClone(new TypeError('x')); return [e instanceof TypeError, e.message, typeof e.stack]; })()
structuredClone({get a() { throw new RangeError('g'); }})
structuredClone(new Blob(['abc'], {type: 'a/b'})).text()
structuredClone.name + structuredClone.length
`.trim().split('\n'));
}
