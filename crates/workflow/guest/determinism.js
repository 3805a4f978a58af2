// Closes what would make a second run differ from the first: the clock, randomness, timers, the collector, shared memory, locales.
//
// The isolate has the clock and randomness banned already, and its time zone is UTC. This says it in the words of workflows
// and closes the rest. `now()`, `random()` and `sleep()` are the ways that are recorded.

import {
  Array, BigInt, Date, Error, Math, Number, String, bigintText, construct, dateISO, dateTime, defineProperty, deleteProperty,
  freeze, getPrototypeOf, normalize, numberText, ownKeys, setHidden, slice, startsWith, toLowerCase, toUpperCase, uncurry,
} from './capture.js';

const refuse = (what) => { throw new Error('SandboxViolation: ' + what + ' is not allowed in a workflow'); };

/** Gone, with the classes through which they could be reached. */
const CLOSED = [
  'setTimeout', 'setInterval', 'setImmediate', 'clearTimeout', 'clearInterval', 'clearImmediate', 'queueMicrotask', 'requestAnimationFrame', 'requestIdleCallback',
  'performance', 'Performance', 'crypto', 'Crypto', 'SubtleCrypto', 'CryptoKey', 'WeakRef', 'FinalizationRegistry', 'SharedArrayBuffer', 'Atomics', 'WebAssembly',
  'Intl', 'Temporal', 'ShadowRealm', 'gc', 'scheduler', 'input',
];

/** Removes a global, or refuses to go on: a workflow that can reach it is not what was promised. */
const close = (name) => {
  if (name in globalThis && !deleteProperty(globalThis, name)) throw new Error('the global ' + name + ' cannot be removed');
};

const replaceDate = () => {
  // `function`, because `new.target` tells a call from a construction, and subclasses construct through it.
  function WorkflowDate() {
    // As a function it gives the time of day, whatever it is given.
    if (new.target === undefined || arguments.length === 0) refuse('argless new Date()');
    return construct(Date, arguments, new.target);
  }
  const define = (key, value) => defineProperty(WorkflowDate, key, { __proto__: null, value, writable: key !== 'prototype', enumerable: false, configurable: key !== 'prototype' });
  defineProperty(WorkflowDate, 'name', { __proto__: null, value: 'Date', writable: false, enumerable: false, configurable: true });
  defineProperty(WorkflowDate, 'length', { __proto__: null, value: 7, writable: false, enumerable: false, configurable: true });
  define('prototype', Date.prototype);
  define('parse', Date.parse);
  define('UTC', Date.UTC);
  define('now', { now() { return refuse('Date.now()'); } }.now);
  // Every date leads to its constructor, and that must not be the one with the clock.
  setHidden(Date.prototype, 'constructor', WorkflowDate);
  setHidden(globalThis, 'Date', WorkflowDate);
};

/** Texts that are the same in every place of the world: ISO dates in UTC, plain numbers, order by code units. */
const replaceLocales = () => {
  const join = uncurry(Array.prototype.join);
  const dateText = (date, from, to) => (dateTime(date) === dateTime(date) ? slice(dateISO(date), from, to) : 'Invalid Date');
  const listText = { toLocaleString() { return join(this, ','); } };
  const forms = [
    [Number.prototype, { toLocaleString() { return numberText(this); } }],
    [BigInt.prototype, { toLocaleString() { return bigintText(this); } }],
    [Array.prototype, listText],
    [getPrototypeOf(Uint8Array.prototype), listText],
    [Date.prototype, {
      toLocaleString() { return dateText(this); },
      toLocaleDateString() { return dateText(this, 0, -14); },
      toLocaleTimeString() { return dateText(this, -13, -5); },
    }],
    [String.prototype, {
      localeCompare(other) {
        const a = normalize(this);
        const b = normalize(String(other));
        return a === b ? 0 : a < b ? -1 : 1;
      },
      toLocaleLowerCase() { return toLowerCase(this); },
      toLocaleUpperCase() { return toUpperCase(this); },
    }],
  ];
  for (const [holder, methods] of forms) for (const name of ownKeys(methods)) setHidden(holder, name, methods[name]);
};

/** The host's functions of workflows are the library's: a call past it would have no number and no name. */
const hideHost = () => {
  const rest = { __proto__: null };
  for (const name of ownKeys(tools)) if (name !== 'workflow') rest[name] = tools[name];
  setHidden(globalThis, 'tools', freeze(rest));
  for (const name of ownKeys(globalThis)) if (typeof name === 'string' && startsWith(name, 'external_workflow')) close(name);
};

/** Runs once, when the library is loaded, which is before any code of a workflow. */
export const install = () => {
  replaceDate();
  setHidden(Math, 'random', { random() { return refuse('Math.random()'); } }.random);
  replaceLocales();
  hideHost();
  for (const name of CLOSED) close(name);
  // A signal that aborts after some time is a timer.
  if (typeof globalThis.AbortSignal === 'function') deleteProperty(globalThis.AbortSignal, 'timeout');
};
