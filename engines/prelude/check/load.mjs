// Loads the prelude into a bare realm, with a stand-in for what an engine provides.
import { readFileSync } from 'node:fs';
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { types } from 'node:util';
import vm from 'node:vm';

const byteLength = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), 'byteLength').get;
const root = new URL('../', import.meta.url);

/** The text that `isolith_prelude::source()` gives, from the same list of fragments. */
export function source() {
  const list = readFileSync(new URL('src/lib.rs', root), 'utf8');
  const names = [...list.matchAll(/include_str!\("\.\.\/(js\/[^"]+)"\)/g)].map((match) => match[1]);
  const fragments = names.map((name) => readFileSync(new URL(name, root), 'utf8'));
  return { names, text: `(function (native) { 'use strict';\n${fragments.join('')}; return hooks; })` };
}

const NATIVE_INTERNALS = `
  (getProxyDetails, getPromiseDetails, types) => ({
    promiseState(value) {
      if (!types.isPromise(value)) return undefined;
      const details = getPromiseDetails(value);
      return [details[0], details[1]];
    },
    proxyTarget(value) {
      if (!types.isProxy(value)) return undefined;
      return getProxyDetails(value, false);
    },
  })`;

/** A fresh realm with the prelude in it. `lines` collects `[stream, text]`. */
export function load({ now = () => 1_700_000_000_000, startedAt = 1_700_000_000_000, call, bodies = new Map(), internals } = {}) {
  const context = vm.createContext(Object.create(null));
  const run = (text, filename = 'guest.js') => vm.runInContext(text, context, { filename });
  for (const name of ['Intl', 'console', 'escape', 'unescape']) run(`delete globalThis.${name}`);
  const lines = [];
  const timers = [];
  const bytesOf = run('((Bytes) => (length) => new Bytes(length))(Uint8Array)'); // as an engine would: the guest cannot replace it
  const guestBytes = (buffer) => {
    const copy = bytesOf(buffer.length);
    Uint8Array.prototype.set.call(copy, buffer);
    return copy;
  };
  const GuestTypeError = run('TypeError');
  const GuestPromise = run('Promise');
  const peek = run(NATIVE_INTERNALS)(internals.getProxyDetails, internals.getPromiseDetails, types);
  const native = {
    output: (stream, text) => { lines.push([stream, text]); },
    call: (name, argument) => {
      const payload = JSON.stringify(argument);
      return new GuestPromise((resolve, reject) => Promise.resolve(call?.(name, payload)).then(resolve, reject));
    },
    readBody: (id, most) => {
      const left = bodies.get(id) ?? new Uint8Array(0);
      bodies.set(id, left.subarray(most));
      return GuestPromise.resolve(guestBytes(left.subarray(0, most)));
    },
    setTimer: (fn, delay, repeat, values) => timers.push({ fn, delay, repeat, values }),
    clearTimer: (id) => { if (Number.isInteger(id) && timers[id - 1]) timers[id - 1].cleared = true; },
    now,
    startedAt: () => startedAt,
    randomFill: (bytes) => { Uint8Array.prototype.set.call(bytes, randomBytes(byteLength.call(bytes))); },
    utf8Encode: (text) => guestBytes(new TextEncoder().encode(text)),
    utf8Decode: (bytes, fatal) => {
      try {
        return new TextDecoder('utf-8', { fatal, ignoreBOM: true }).decode(bytes);
      } catch {
        throw new GuestTypeError('The encoded data was not valid for encoding utf-8');
      }
    },
    digest: (name, bytes) => guestBytes(createHash(name.replace('-', '')).update(bytes).digest()),
    hmac: (name, key, bytes) => guestBytes(createHmac(name.replace('-', ''), key).update(bytes).digest()),
    promiseState: peek.promiseState,
    proxyTarget: peek.proxyTarget,
  };
  const hooks = run(source().text, 'isolith:prelude')(native);
  const stream = (wanted) => lines.filter(([which]) => which === wanted).map(([, text]) => text);
  return { context, run, hooks, lines, timers, stdout: () => stream(0), stderr: () => stream(1), clear: () => { lines.length = 0; } };
}
