// The console's methods, against a Node Console writing to memory.
import { Console } from 'node:console';
import { Writable } from 'node:stream';

const calls = String.raw`
console.log()
console.log('')
console.log('a', 'b', 1, {c: 2})
console.log('%s', 'x')
console.log('%s %s', 'x')
console.log('%s', 'x', 'y')
console.log('%s|%s|%s', 1, -0, 12n)
console.log('%s|%s|%s', null, undefined, true)
console.log('%s', Symbol('q'))
console.log('%s', {a: {b: 1}})
console.log('%s', [1, [2, [3]]])
console.log('%s', {toString() { return 'own'; }})
console.log('%s', new (class A { toString() { return 'cls'; } }))
console.log('%s', new (class A extends Map {}))
console.log('%s', () => 5)
console.log('%s', class Q {})
console.log('%s', new Date(0))
console.log('%s', /x/g)
console.log('%s', new URL('http://a/'))
console.log('%s %s', Object.create(null), new (class A extends Date {})(0))
console.log('%s', {[Symbol.toPrimitive]() { return 'prim'; }})
console.log('%s', Object.assign([1], {toString() { return 'arr'; }}))
console.log('%s', new (class E3 extends Error { toString() { return 'own'; } })('z'))
console.log('%d|%d|%d', 1.5, '42', 'x')
console.log('%d|%d', 12n, Symbol('x'))
console.log('%d', {valueOf() { return 7; }})
console.log('%i|%i|%i', 1.9, '42.7px', 'x')
console.log('%i|%i', 12n, Symbol('x'))
console.log('%f|%f|%f', 1.5, '2.50', 'x')
console.log('%f', Symbol('x'))
console.log('%j', {a: [1, 'x']})
console.log('%j', undefined)
console.log('%j', (() => { const a = {}; a.a = a; return a; })())
console.log('%O', {a: {b: {c: {d: 1}}}})
console.log('%o', {a: 1})
console.log('%o', [1, 2])
console.log('%c styled %c', 'color: red', 'x')
console.log('%%')
console.log('%% %s', 'x')
console.log('100%', 'x')
console.log('%x %s', 'a')
console.log('%s%', 'a')
console.log('a%', 1)
console.log('%', 1)
console.log(1, '%s', 'x')
console.log('x', undefined, null, NaN)
console.log('multi\nline', {a: 1})
console.info('i'); console.debug('d'); console.warn('w'); console.error('e')
console.error(new Error('x').message, {a: 1})
console.assert(true, 'no'); console.assert(false); console.assert(false, 'msg'); console.assert(false, 'm %s', 'x')
console.count(); console.count(); console.count('a'); console.countReset(); console.count()
console.count(undefined); console.count(null); console.count(3)
console.group('G'); console.log('in'); console.group(); console.log('a\nb'); console.groupEnd(); console.warn('w'); console.groupEnd(); console.groupEnd(); console.log('out')
console.groupCollapsed('a', 'b'); console.log({a: 'x'.repeat(40), b: 'y'.repeat(40)}); console.groupEnd()
console.dir({a: {b: {c: {d: 1}}}}); console.dir({a: {b: {c: {d: 1}}}}, {depth: 0}); console.dir({a: {b: {c: {d: 1}}}}, {depth: null})
console.dir('text'); console.dirxml({a: 1}, [2])
console.table([{a: 1, b: 'x'}, {a: 2, c: true}])
console.table([[1, 2], [3, 4]])
console.table([1, 'two', {three: 3}])
console.table({x: {a: 1}, y: {b: 2}})
console.table([{a: 1, b: 2}], ['b'])
console.table([{a: 1, b: 2}], ['b', 'zz'])
console.table([])
console.table(5); console.table('x'); console.table(null)
console.table(new Map([['a', 1], ['b', {c: 2}]]))
console.table(new Set([1, 'x']))
console.table([{a: {b: {c: 1}}, d: [1, 2, 3, 4, 5]}])
console.table([{name: '日本', v: 1}, {name: 'é', v: 22}])
console.table([undefined, null])
console.table([['a', 'b'], {0: 'c'}])
console.log(Object.keys(console).filter((k) => /^(log|warn|dir|time|timeEnd|timeLog|trace|assert|count|countReset|group|groupEnd|table|debug|info|dirxml|error|groupCollapsed)$/.test(k)).sort().join())
`.trim().split('\n');

const memory = () => {
  const chunks = [];
  return { chunks, stream: new Writable({ write(chunk, _, done) { chunks.push(String(chunk)); done(); } }) };
};

export default function check({ fresh, is }) {
  for (const text of calls) {
    const guest = fresh();
    guest.run(text);
    const out = memory();
    const err = memory();
    new Function('console', text)(new Console({ stdout: out.stream, stderr: err.stream }));
    is('console', text, `${guest.stdout().map((line) => `${line}\n`).join('')}--${guest.stderr().map((line) => `${line}\n`).join('')}`, `${out.chunks.join('')}--${err.chunks.join('')}`);
  }

  let time = 1_000;
  const clock = fresh({ now: () => time });
  const timed = (elapsed) => {
    clock.clear();
    time = 1_000;
    clock.run('console.time("t")');
    time += elapsed;
    clock.run('console.timeEnd("t")');
    return clock.stdout().join();
  };
  is('console', 'time in milliseconds', timed(12.3456), 't: 12.346ms');
  is('console', 'time in seconds', timed(1_500), 't: 1.500s');
  is('console', 'time in minutes', timed(65_000), 't: 1:05.000 (m:ss.mmm)');
  is('console', 'time in hours', timed(3_725_000), 't: 1:02:05 (h:mm:ss)');
  const guest = fresh();
  guest.run('console.time(); console.time(); console.timeLog("default", 1, {a: 1}); console.timeEnd("zz"); console.countReset("zz")');
  is('console', 'timeLog and warnings', guest.lines, [[1, "Warning: Label 'default' already exists for console.time()"], [0, 'default: 0ms 1 { a: 1 }'],
    [1, "Warning: No such label 'zz' for console.timeEnd()"], [1, "Warning: Count for 'zz' does not exist"]]);
  const bounded = fresh();
  bounded.run('for (let i = 0; i < 3000; i++) console.count("l" + i); for (let i = 0; i < 3000; i++) console.time("t" + i); for (let i = 0; i < 3000; i++) console.group(); console.log("x")');
  is('console', 'labels and groups are bounded, and it is said once', bounded.stderr().length, 2);
  is('console', 'the deepest group', bounded.stdout().at(-1), `${' '.repeat(200)}x`);
  const large = fresh();
  large.run('console.table(Array.from({ length: 900 }, () => ({ a: "x".repeat(9000) }))); console.log(...Array.from({ length: 500 }, () => Array.from({ length: 100 }, () => "y".repeat(100))))');
  is('console', 'one call is bounded as a whole', large.stdout().map((text) => text.length < 1 << 20), [true, true]);
  const trace = fresh();
  trace.run('function outer() { console.trace("here %s", 1); } outer()');
  is('console', 'trace names the caller and not the prelude', /^Trace: here 1\n {4}at outer \(guest.js/.test(trace.stderr()[0]) && !trace.stderr()[0].includes('isolith:prelude'));
  const detached = fresh();
  detached.run('const { log } = console; log("free"); [1].forEach(console.log)');
  is('console', 'methods work alone', detached.stdout(), ['free', '1 0 [ 1 ]']);
}
