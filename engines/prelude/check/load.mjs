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

const PUBLISH = `(native, hooks, keep) => {
    const { defineProperty, freeze, create } = Object, { hasOwn } = Object;
    const define = (name, value) => defineProperty(globalThis, name, { value, writable: true, configurable: true });
    const space = (name, kept) => { const made = create(hooks.spaceMethods); keep(made, name, kept); return made; };
    return (config) => {
      if (hasOwn(config, 'tools')) {
        const tools = create(null);
        for (const name of config.tools) {
          const tool = native.tool(name, name);
          tools[name] = tool;
          define('external_' + name, tool);
        }
        for (const name of config.namespaces ?? []) {
          const [namespace, own] = name.split('.');
          if (own === undefined && !(name in tools)) tools[name] = hooks.makeNamespace(name);
          const twin = 'external_' + namespace + '_' + own;
          if (own !== undefined && tools[namespace][own] !== undefined && !(twin in globalThis)) define(twin, tools[namespace][own]);
        }
        if (config.namespaces !== undefined) for (const name of Object.keys(hooks.aboutTools)) if (!(name in tools)) tools[name] = hooks.aboutTools[name];
        define('tools', freeze(tools));
      }
      if (hasOwn(config, 'kv')) {
        const kv = config.kv.length === 1 ? space(config.kv[0]) : create(hooks.spacesMethods);
        for (const name of config.kv) {
          const made = freeze(space(name, true));
          if (!(name in kv)) kv[name] = made;
        }
        define('kv', freeze(kv));
      }
      for (const name of Object.keys(hooks.bindings)) if (hasOwn(config, name)) define(name, hooks.bindings[name]);
    };
  }`;

/** Where the path of a URL begins in which a parser would change nothing, or 0: `guest/url.c` in other words. */
export function plainUrl(text) {
  const found = /^(https?):\/\/([a-z0-9.-]+)(?::([1-9][0-9]{0,4}))?(?=\/)/.exec(text);
  if (found === null) return 0;
  const [start, scheme, host, port] = found;
  const last = host.slice(host.lastIndexOf('.') + 1);
  const byte = '(?:0|[1-9][0-9]?|1[0-9]{2}|2[0-4][0-9]|25[0-5])';
  if (last === '' || host.includes('xn--') || (/^[0-9]/.test(last) && !new RegExp(`^(?:${byte}\\.){3}${byte}$`).test(host))) return 0;
  if (port > 65535 || port === { http: '80', https: '443' }[scheme]) return 0;
  const rest = text.slice(start.length);
  if (!/^(?:\/(?!\.|%2e)[!$-&'()*+,\-.0-;=@-[\]_a-z|~]*)+(?:\?[!$-&(-;=?-~]*)?$/i.test(rest)) return 0;
  return start.length;
}

/** What a host may answer besides JSON and bytes. */
export class HostBody {
  constructor(id, length = null) { Object.assign(this, { id, length }); }
}
/** A response whose body is beside it. */
export class HostResponse {
  constructor(head, whole) { Object.assign(this, { head, whole }); }
}
export class HostError extends Error {
  constructor(name, message, code) { super(message); Object.assign(this, { name, code }); }
}

/** A fresh realm with the prelude in it. `lines` collects `[stream, text]`. */
export function load({ now = () => 1_700_000_000_000, startedAt = 1_700_000_000_000, call, ask, payloadMax = 16 << 20, bodies = new Map(), internals } = {}) {
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
  const GuestRangeError = run('RangeError');
  const GuestPromise = run('Promise');
  const peek = run(NATIVE_INTERNALS)(internals.getProxyDetails, internals.getPromiseDetails, types);
  const parse = run('((parse) => (text) => (text === undefined ? undefined : parse(text)))(JSON.parse)');
  /** What a stand-in for the host answers, as the engine would bring it: a value, bytes, `{ body, length }` as a body, or an error. */
  const reply = (value) => {
    if (value instanceof Uint8Array) return guestBytes(value);
    if (value instanceof HostBody) return hooks.makeBody(value.id, value.length);
    return parse(JSON.stringify(value));
  };
  const made = (value, make) => {
    if (make === undefined) return reply(value);
    return value instanceof HostResponse ? make(JSON.stringify(value.head), guestBytes(value.whole), value.head.status) : make(reply(value));
  };
  const failure = (error) => (error instanceof HostError ? hooks.makeError(error.name, error.message, error.code) : error);
  const spaces = new Map();
  const found = new Map();
  const native = {
    ask: (what, bytes, make) => {
      const text = JSON.stringify(what);
      if (text.length + (bytes === undefined ? 0 : byteLength.call(bytes)) + 4 > payloadMax) throw new GuestRangeError('too large');
      const sent = bytes === undefined ? undefined : new Uint8Array(byteLength.call(bytes));
      if (sent !== undefined) sent.set(bytes);
      return new GuestPromise((resolve, reject) => {
        Promise.resolve().then(() => ask(JSON.parse(text), sent)).then((value) => resolve(made(value, make)), (error) => reject(failure(error)));
      });
    },
    plainUrl,
    get: (url, request, make) => (plainUrl(url) === 0 ? undefined : native.ask({ kind: 'fetch', request, url, method: 'GET', headers: [], redirect: 'follow', streamed: false, body: null }, undefined, make)),
    payloadMax: () => payloadMax,
    spaceName: (object) => spaces.get(object),
    findSpace: (name) => found.get(name),
    output: (stream, text) => { lines.push([stream, text]); },
    tool: run(`(send) => (name, shown) => ({ async [shown](argument) { return send(name, argument); } })[shown]`)((name, argument) => {
      const payload = JSON.stringify(argument);
      return new GuestPromise((resolve, reject) => Promise.resolve(call?.(name, payload)).then(resolve, reject));
    }),
    readBody: (id, most) => {
      if (typeof bodies === 'function') return new GuestPromise((resolve, reject) => { bodies(id, most).then((bytes) => resolve(guestBytes(bytes)), reject); });
      const left = bodies.get(id) ?? new Uint8Array(0);
      bodies.set(id, left.subarray(most));
      return new GuestPromise((resolve) => { resolve(guestBytes(left.subarray(0, most))); });
    },
    setTimer: (fn, delay, repeat, values) => timers.push({ fn, delay, repeat, values }),
    clearTimer: (id) => { if (Number.isInteger(id) && timers[id - 1]) timers[id - 1].cleared = true; },
    now,
    startedAt: () => startedAt,
    randomFill: (bytes) => { Uint8Array.prototype.set.call(bytes, randomBytes(byteLength.call(bytes))); return true; },
    utf8Encode: (text) => guestBytes(new TextEncoder().encode(text)),
    utf8Decode: (bytes, fatal, skipMark) => {
      try {
        return new TextDecoder('utf-8', { fatal, ignoreBOM: skipMark !== true }).decode(bytes);
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
  /** What an engine does with names: see 90-bindings.js. */
  const publish = run(PUBLISH)(native, hooks, (space, name, kept) => { spaces.set(space, name); if (kept) found.set(name, space); });
  const configure = (config) => { publish(config); hooks.configure(config); };
  const stream = (wanted) => lines.filter(([which]) => which === wanted).map(([, text]) => text);
  return { context, run, hooks, configure, lines, timers, stdout: () => stream(0), stderr: () => stream(1), clear: () => { lines.length = 0; } };
}
