// A workflow cannot see the clock, chance, the collector or the place it runs at.

import { run } from './load.mjs';

/** What each expression gives: its value, or the message of what it throws. */
const looks = async (expressions) => {
  const list = expressions.map((text) => `() => (${text})`).join(',\n');
  const { result } = await run(`const out = []; for (const look of [${list}]) { try { out.push(await look()); } catch (e) { out.push(e.message); } } return out;`);
  return result.value;
};
const NOW = 'SandboxViolation: Date.now() is not allowed in a workflow';
const ARGLESS = 'SandboxViolation: argless new Date() is not allowed in a workflow';
const RANDOM = 'SandboxViolation: Math.random() is not allowed in a workflow';

export default {
  async 'every way to the clock is closed'(assert) {
    const ways = ['Date.now()', 'new Date(0).constructor.now()', 'Date.prototype.constructor.now()', 'Function("return Date.now()")()', 'Object.getPrototypeOf(class extends Date {}).now()'];
    assert.deepEqual(await looks(ways), ways.map(() => NOW));
    const argless = [
      'new Date()', 'Date()', 'Date(5)', 'Date.call(null)', 'Reflect.construct(Date, [])', 'Reflect.apply(Date, undefined, [1])', 'new (class extends Date {})()', 'new (class extends Date { constructor() { super(); } })()',
      'new (new Date(0).constructor)()', 'new (Date.bind(null))()', 'new (new Proxy(Date, {}))()', 'Reflect.construct(Date, [], Object)',
    ];
    assert.deepEqual(await looks(argless), argless.map(() => ARGLESS));
  },
  async 'chance is closed, and the rest of Math is there'(assert) {
    assert.deepEqual(await looks(['Math.random()', 'Math.max(1, 2)', 'Math.PI > 3', 'Object.keys(Math).length', 'Math[Symbol.toStringTag]']), [RANDOM, 2, true, 0, 'Math']);
  },
  async 'violations are ordinary errors'(assert) {
    const { result } = await run('return Date.now();');
    assert.deepEqual(result.error, { kind: 'AdapterSpawn', adapter: 'run', cause: `Error: ${NOW}` });
  },
  async 'dates that are given are dates like any other'(assert) {
    assert.deepEqual(await looks([
      'new Date(0) instanceof Date', 'new Date(0).constructor === Date', 'Date.name + Date.length', 'new Date("2026-05-30T00:00:00Z").getTime()', 'Date.parse("1970-01-01T00:00:01Z")', 'Date.UTC(2020, 0, 1)',
      'new Date(2020, 0, 2).getTime()', 'new Date(new Date(5)).getTime()', 'Number.isNaN(new Date(undefined).getTime())', 'Object.keys(Date).length', 'Object.getOwnPropertyNames(Date).sort().join()',
      '(() => { class Day extends Date { get day() { return this.getTime() / 864e5; } } const d = new Day(864e5); return [d.day, d instanceof Day, d instanceof Date, d.constructor === Day]; })()',
      'Object.prototype.toString.call(new Date(0))', 'JSON.stringify(new Date(0))',
    ]), [true, true, 'Date7', 1780099200000, 1000, 1577836800000, 1577923200000, 5, true, 0, 'UTC,length,name,now,parse,prototype', [1, true, true, true], '[object Date]', '"1970-01-01T00:00:00.000Z"']);
  },
  async 'timers, the collector, shared memory and locales are gone'(assert) {
    const gone = ['setTimeout', 'setInterval', 'clearTimeout', 'clearInterval', 'setImmediate', 'queueMicrotask', 'performance', 'crypto', 'WeakRef', 'FinalizationRegistry', 'SharedArrayBuffer', 'Atomics', 'WebAssembly', 'Intl', 'Temporal', 'input', 'external_workflow_agent'];
    assert.deepEqual(await looks(gone.map((name) => `typeof globalThis.${name} + ("${name}" in globalThis)`)), gone.map(() => 'undefinedfalse'));
    assert.deepEqual(await looks(['typeof AbortSignal.timeout']), ['undefined']);
  },
  async 'the host is reached through the primitives only'(assert) {
    assert.deepEqual(await looks(['Object.keys(tools)', 'tools.workflow === undefined', 'Object.isFrozen(tools)']), [['other'], true, true]);
  },
  async 'a global that cannot be removed stops the run'(assert) {
    const { runProgram } = await import('./load.mjs');
    const globals = {};
    Object.defineProperty(globals, 'scheduler', { value: 1, configurable: false });
    const program = 'Object.defineProperty(globalThis, "scheduler", { value: 1, configurable: false }); export default 1;';
    await assert.rejects(runProgram({ 'first.js': program }, 'import "./first.js"; import { drive } from "./@isolith/workflow.js"; export default 1;'), /the global scheduler cannot be removed/);
  },
  async 'texts do not depend on the place'(assert) {
    assert.deepEqual(await looks([
      '(1234567.5).toLocaleString("de-DE")', '12345678901234567890n.toLocaleString()', '[1234.5, 2].toLocaleString()', 'new Float64Array([1234.5]).toLocaleString()', 'new Date(0).toLocaleString("de")',
      'new Date(45296789).toLocaleTimeString()', 'new Date(Date.UTC(2020, 1, 3)).toLocaleDateString("en-US")', 'new Date(NaN).toLocaleDateString()', '"I".toLocaleLowerCase("tr")', '"i".toLocaleUpperCase("tr")',
      '["b", "a", "B", "ä", "z"].sort((x, y) => x.localeCompare(y)).join("")', '"a\\u0308".localeCompare("ä")', 'Object.keys(String.prototype).length',
    ]), ['1234567.5', '12345678901234567890', '1234.5,2', '1234.5', '1970-01-01T00:00:00.000Z', '12:34:56', '2020-02-03', 'Invalid Date', 'i', 'I', 'Babzä', 0, 0]);
  },
};
