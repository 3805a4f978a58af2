// Checks the expectations of this suite against Node: `node conformance/oracle.mjs [--print] [path ...]`.
//
// Every file is checked for its form. A file whose behaviour is standard JavaScript or a standard web interface is also
// run, in a worker of its own, and what Node does is compared with what the file expects. `--print` shows what Node does
// in the form of expectation lines instead of comparing. Needs Node 20 or later and nothing else.
//
// What is not run: TypeScript, program shapes and limits (Node has no equal of them), files that say `oracle = false`,
// and the two lists below.

import { spawnSync } from "node:child_process";
import { Console } from "node:console";
import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { Script } from "node:vm";
import { Worker, isMainThread, parentPort, workerData } from "node:worker_threads";

/// Deliberate differences from Node, with their reasons.
const DIFFERENCES = {
  "tamper/replacing-array-methods-cannot-forge-output.js": "Node's console looks array methods up and can be fooled by them",
  "tamper/setters-for-indices-cannot-steal-output.js": "Node's console reads through index accessors and can be fooled by them",
};

/// Language features that came after Node 20, and the Node that has them.
const NEEDS_NODE = {
  "async/promise-with-resolvers-exposes-its-functions.js": 22,
  "language/array-from-async-awaits-each-item.js": 22,
  "language/await-using-awaits-disposal.js": 24,
  "language/group-by-makes-objects-and-maps.js": 22,
  "language/iterator-helpers-chain-lazily.js": 22,
  "language/promise-try-catches-a-synchronous-throw.js": 24,
  "language/regexp-escape-makes-text-literal.js": 24,
  "language/set-methods-combine-sets.js": 22,
  "language/typed-arrays-convert-to-base64-and-hex.js": 25,
  "language/using-disposes-in-reverse-order.js": 24,
};

/// Areas that are ours alone.
const OWN_AREAS = { limits: "Node has no such limits", shapes: "Node has no such shapes" };

const KINDS = [
  "syntax", "thrown", "timeout", "cpu_limit", "memory_limit", "stack_overflow", "output_limit", "call_limit", "denied",
  "stalled", "divergence", "cancelled", "unsupported", "internal",
];
const TOOLS = ["echo", "fail", "hang", "slow", "big", "inc", "proto", "nul", "body"];
const LIMITS = ["cpu_ms", "wall_ms", "memory_mb", "output_kb", "calls", "stack_kb", "payload_kb", "value_kb"];
const HEADER_KEYS = ["tools", "namespaces", "limits", "input", "args", "time", "seed", "oracle"];
const RUN_MS_MAX = 10_000;

const own = fileURLToPath(import.meta.url);
if (!isMainThread) await runInWorker(workerData);
else if (process.env.TZ !== "UTC" || process.env.LC_ALL !== "en_US.UTF-8") again();
else await main(process.argv.slice(2));

/// Time zone and locale are read when a process starts, so they are set for a process of their own.
function again() {
  const env = { ...process.env, TZ: "UTC", LC_ALL: "en_US.UTF-8" };
  process.exit(spawnSync(process.execPath, [own, ...process.argv.slice(2)], { env, stdio: "inherit" }).status ?? 1);
}

async function main(words) {
  const print = words.includes("--print");
  const wanted = words.filter(word => !word.startsWith("--"));
  const root = dirname(own);
  const paths = programs(root).filter(path => !wanted.length || wanted.some(word => path.includes(word)));
  const skipped = new Map();
  let passed = 0, failed = 0;
  const fail = (path, ...lines) => {
    failed++;
    console.log([`FAIL ${path}`, ...lines.map(line => `     ${line}`)].join("\n"));
  };
  const known = new Set(programs(root));
  for (const path of [...Object.keys(DIFFERENCES), ...Object.keys(NEEDS_NODE)]) {
    if (!known.has(path)) fail(path, "is listed in oracle.mjs, but there is no such file");
  }
  const queue = paths.slice();
  await Promise.all(Array.from({ length: availableParallelism() }, async () => {
    for (let path; (path = queue.shift()) !== undefined;) {
      let file;
      try {
        file = parse(path, readFileSync(join(root, path), "utf8"), print);
      } catch (error) {
        fail(path, `form: ${error.message}`);
        continue;
      }
      const reason = whyNotRun(path, file.header);
      if (reason && !(print && wanted.length)) {
        skipped.set(reason, (skipped.get(reason) ?? 0) + 1);
        continue;
      }
      const actual = await run(file);
      if (print) {
        console.log([path, ...describe(actual)].join("\n"));
        continue;
      }
      const problems = compare(file.expected, actual);
      if (problems.length) fail(path, ...problems);
      else passed++;
    }
  }));
  for (const [reason, count] of [...skipped].sort()) console.log(`not run: ${count} (${reason})`);
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed ? 1 : 0;
}

function programs(root) {
  return readdirSync(root, { recursive: true })
    .map(path => path.split(sep).join("/"))
    .filter(path => /^[a-z]+\/.*\.(js|ts)$/.test(path))
    .sort();
}

function whyNotRun(path, header) {
  const [area] = path.split("/");
  if (path.endsWith(".ts")) return "TypeScript";
  if (OWN_AREAS[area]) return OWN_AREAS[area];
  if (header.oracle === false) return "the file says so";
  if (DIFFERENCES[path]) return "a deliberate difference";
  if (Number(process.versions.node.split(".")[0]) < NEEDS_NODE[path]) return "this Node is too old for it";
}

// ---- the form of a file ----

function parse(path, text, lenient) {
  if (!/^[a-z]+\/[a-z0-9]+(-[a-z0-9]+)*\.(js|ts)$/.test(path)) throw new Error("the name is not kebab-case");
  const header = {}, expected = { stdout: null, stderr: null };
  const lines = text.split("\n");
  let ended = false;
  const code = lines.map((line, index) => {
    if (line.startsWith("//! ")) {
      const [, key, value] = /^\/\/! ([a-z]+) = (.*)$/.exec(line) ?? [];
      if (!HEADER_KEYS.includes(key)) throw new Error(`header line ${index + 1} is unknown`);
      if (key in header) throw new Error(`header \`${key}\` is given twice`);
      header[key] = toml(value);
      return "";
    }
    if (line.startsWith("//> ")) {
      ended = true;
      expect(expected, line.slice(4), lenient);
      return "";
    }
    if (ended && line !== "") throw new Error("code after the expectations");
    return line;
  }).join("\n");
  for (const tool of header.tools ?? []) if (!TOOLS.includes(tool)) throw new Error(`no fixture tool \`${tool}\``);
  for (const limit of Object.keys(header.limits ?? {})) if (!LIMITS.includes(limit)) throw new Error(`no limit \`${limit}\``);
  if (header.oracle === true) throw new Error("`oracle = true` says nothing");
  if (!lenient && !["value", "error", "any"].some(key => key in expected)) throw new Error("expects no outcome");
  return { code, header, expected, path };
}

function expect(expected, line, lenient) {
  const [, key, rest] = /^([a-z]+): (.*)$/.exec(line) ?? [];
  const once = value => {
    if (key in expected) throw new Error(`\`${key}\` is expected twice`);
    expected[key] = value;
  };
  switch (key) {
    case "value": return once(valueText(rest));
    case "error": return once(errorOf(rest));
    case "line": return once(Number(rest));
    case "message":
      if (typeof JSON.parse(rest) !== "string") throw new Error("`message` is not a JSON string");
      return once(JSON.parse(rest));
    case "stdout":
    case "stderr":
      if (typeof JSON.parse(rest) !== "string") throw new Error(`\`${key}\` is not a JSON string`);
      return (expected[key] ??= []).push(JSON.parse(rest));
    case "any":
      return once(rest.split(" | ").map(choice => {
        const [, word, what] = /^(value|error) (.*)$/.exec(choice) ?? [];
        if (word === "value") return { value: valueText(what) };
        if (word === "error") return { kinds: what.split(",").map(kind => errorOf(kind).kind) };
        throw new Error(`\`${choice}\` is not a choice`);
      }));
    default:
      if (!lenient) throw new Error(`expectation \`${line}\` is unknown`);
  }
}

/// The text must be what `JSON.stringify` writes, so that values can be compared as texts.
function valueText(text) {
  if (text !== "undefined" && JSON.stringify(JSON.parse(text)) !== text) {
    throw new Error(`write the value as ${JSON.stringify(JSON.parse(text))}`);
  }
  return text;
}

function errorOf(text) {
  const [kind, name, ...more] = text.split(" ");
  if (!KINDS.includes(kind) || more.length) throw new Error(`\`${text}\` is not a kind and a name`);
  return { kind, name };
}

/// Reads one TOML value of the few forms the headers use: strings, numbers, booleans, arrays and inline tables.
function toml(text) {
  let at = 0;
  const skip = () => { while (text[at] === " ") at++; };
  const take = pattern => {
    skip();
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) at = pattern.lastIndex;
    return found?.[0];
  };
  const need = pattern => take(pattern) ?? (() => { throw new Error(`not TOML: ${text}`); })();
  const list = (end, item) => {
    while (!take(end)) {
      item();
      if (!take(/,/y)) { need(end); break; }
    }
  };
  const value = () => {
    const string = take(/"(?:[^"\\]|\\.)*"/y);
    if (string !== undefined) return JSON.parse(string);
    if (take(/\[/y)) { const array = []; list(/\]/y, () => array.push(value())); return array; }
    if (take(/\{/y)) {
      const table = {};
      list(/\}/y, () => {
        const key = need(/[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"/y);
        need(/=/y);
        const name = key.startsWith('"') ? JSON.parse(key) : key;
        Object.defineProperty(table, name, { value: value(), enumerable: true });
      });
      return table;
    }
    if (take(/true\b/y)) return true;
    if (take(/false\b/y)) return false;
    return Number(need(/-?[0-9][0-9_]*(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?/y).replaceAll("_", ""));
  };
  const result = value();
  skip();
  if (at !== text.length) throw new Error(`not TOML: ${text}`);
  return result;
}

// ---- running and comparing ----

/// Runs one program and says how it ended: `{ value }` or `{ error: { kind, name, message, line } }`, with `stdout` and `stderr`.
function run(file) {
  return new Promise(resolve => {
    const worker = new Worker(own, { workerData: file, resourceLimits: { maxOldGenerationSizeMb: 256, stackSizeMb: 2 } });
    const end = outcome => {
      clearTimeout(timer);
      resolve(outcome);
      worker.terminate();
    };
    const timer = setTimeout(() => end({ error: { kind: "timeout" }, stdout: [], stderr: [] }), RUN_MS_MAX);
    worker.on("message", end);
    worker.on("error", error => end({ error: { kind: "internal", name: String(error) }, stdout: [], stderr: [] }));
    worker.on("exit", () => end({ error: { kind: "stalled" }, stdout: [], stderr: [] }));
  });
}

function describe(actual) {
  const { value, error, stdout, stderr } = actual;
  const lines = [error ? `//> error: ${[error.kind, error.name].filter(Boolean).join(" ")}` : `//> value: ${value}`];
  for (const text of stdout) lines.push(`//> stdout: ${JSON.stringify(text)}`);
  for (const text of stderr) lines.push(`//> stderr: ${JSON.stringify(text)}`);
  if (error?.line) lines.push(`//> line: ${error.line}`);
  return lines;
}

function compare(expected, actual) {
  const problems = [];
  const check = (what, want, got) => {
    if (want !== got) problems.push(`${what}: expected ${want}, Node gives ${got}`);
  };
  const got = actual.error ? `error ${actual.error.kind} ${actual.error.name}` : `value ${actual.value}`;
  if ("value" in expected) check("outcome", `value ${expected.value}`, got);
  if ("error" in expected) {
    const name = expected.error.name ?? actual.error?.name;
    check("outcome", `error ${expected.error.kind} ${name}`, got);
  }
  if ("any" in expected) {
    const met = expected.any.some(({ value, kinds }) => kinds ? kinds.includes(actual.error?.kind) : value === actual.value);
    if (!met) problems.push(`outcome: Node gives ${got}, which is none of those expected`);
  }
  if ("line" in expected) check("line", expected.line, actual.error?.line);
  if ("message" in expected) check("message", JSON.stringify(expected.message), JSON.stringify(actual.error?.message));
  for (const stream of ["stdout", "stderr"]) {
    if (expected[stream]) check(stream, JSON.stringify(expected[stream]), JSON.stringify(actual[stream]));
  }
  return problems;
}

/// The guest's world, made from Node's: nothing here is looked up again once the program runs, so that a program that
/// changes its globals changes only its own.
async function runInWorker({ code, header, path }) {
  const { stringify, parse } = JSON;
  const { apply } = Reflect;
  const { toWellFormed } = String.prototype;
  const exit = process.exit.bind(process), post = parentPort.postMessage.bind(parentPort);
  const outputs = { stdout: [], stderr: [] };
  const counts = { stdout: 0, stderr: 0 };
  const { defineProperty } = Object;
  const stream = name => ({
    write(text) {
      text = apply(toWellFormed, text, []);
      const cut = text[text.length - 1] === "\n" ? text.length - 1 : text.length;
      let piece = "";
      for (let i = 0; i < cut; i++) piece += text[i];
      defineProperty(outputs[name], counts[name]++, { __proto__: null, value: piece, enumerable: true, writable: true, configurable: true });
    },
    on() {}, removeListener() {}, once() {},
  });
  globalThis.console = new Console({ stdout: stream("stdout"), stderr: stream("stderr"), colorMode: false, ignoreErrors: false });
  process.on("unhandledRejection", () => {});
  const AsyncFunction = (async () => {}).constructor;

  globalThis.input = header.input;
  for (const name in header.args ?? {}) globalThis[name] = header.args[name];
  if (header.time !== undefined) useVirtualClock(header.time);
  const tools = globalThis.tools = {};
  let count = 0;
  const { setTimeout: later, Promise: P, Error: E } = globalThis;
  const fixtures = {
    echo: x => x,
    fail: message => { throw new E(message); },
    hang: () => new P(() => later(() => {}, RUN_MS_MAX)),
    slow: ({ ms }) => new P(done => later(done, ms)),
    big: ({ bytes }) => "x".repeat(bytes),
    inc: () => ++count,
    proto: () => parse('{"ok":1,"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted2":true}}}'),
    nul: () => "a\0b",
  };
  const copy = value => value === undefined ? undefined : parse(stringify(value));
  for (const name of header.tools ?? []) {
    const tool = name === "body" ? async ({ bytes }) => bodyOf(bytes) : async argument => copy(await fixtures[name](copy(argument)));
    tools[name] = globalThis[`external_${name}`] = tool;
  }

  const done = outcome => {
    post({ ...outcome, stdout: outputs.stdout, stderr: outputs.stderr });
    exit();
  };
  const name = `program-${path.replaceAll("/", "-")}`;
  let start;
  try {
    start = new AsyncFunction(`${code}\n//# sourceURL=${name}`);
  } catch (error) {
    return done({ error: { kind: "syntax", name: error.name, line: syntaxLine(code, name) } });
  }
  const describeError = makeDescribeError(name);
  let value;
  try {
    value = await start.call(globalThis);
  } catch (error) {
    return done({ error: describeError(error) });
  }
  try {
    value = stringify(value) ?? "undefined";
  } catch (error) {
    return done({ error: describeError(error) });
  }
  done({ value });
}

/// What the fixture tool `body` replies with: bytes that are read on demand.
function bodyOf(size) {
  const bytes = new Uint8Array(size).fill(120);
  const text = () => new TextDecoder().decode(bytes);
  return {
    size,
    bytes: async () => bytes,
    arrayBuffer: async () => bytes.buffer,
    text: async () => text(),
    json: async () => JSON.parse(text()),
    async *[Symbol.asyncIterator]() { for (let i = 0; i < size; i += 65536) yield bytes.slice(i, i + 65536); },
  };
}

function makeDescribeError(file) {
  const place = new RegExp(`${file.replace(".", "\\.")}:(\\d+):`);
  const match = String.prototype.match.call.bind(String.prototype.match);
  const { RangeError } = globalThis;
  return error => {
    const read = key => { try { const v = error[key]; return typeof v === "string" ? v : undefined; } catch {} };
    const name = read("name"), stack = read("stack");
    let tooDeep = false;
    try { tooDeep = error instanceof RangeError && error.message === "Maximum call stack size exceeded"; } catch {}
    const found = stack && match(stack, place);
    // The constructor of a function puts two lines before its body.
    const line = found ? Number(found[1]) - 2 : undefined;
    const message = typeof error === "string" ? error : read("message");
    return { kind: tooDeep ? "stack_overflow" : "thrown", name, message, line };
  };
}

/// `new Function` does not say where its syntax error is; a script does.
function syntaxLine(code, filename) {
  try {
    new Script(`async function _() {\n${code}\n}`, { filename });
  } catch (error) {
    return Number(new RegExp(`^${filename}:(\\d+)`).exec(error.stack)?.[1]) - 1;
  }
}

/// Time that stands still while the program computes, and jumps to the next timer when it only waits.
function useVirtualClock(start) {
  const { setImmediate, Date: RealDate } = globalThis;
  const { construct } = Reflect;
  const { max, trunc } = Math;
  // Keys are identifiers of timers; a plain object lists those in ascending order.
  const timers = { __proto__: null };
  let now = start, lastId = 0, scheduled = false;
  const schedule = () => {
    if (scheduled) return;
    scheduled = true;
    // Two turns: promises have settled and replies of tools have come.
    setImmediate(() => setImmediate(() => {
      scheduled = false;
      let next;
      for (const id in timers) if (next === undefined || timers[id].at < timers[next].at) next = id;
      if (next === undefined) return;
      const { at, every, call } = timers[next];
      delete timers[next];
      now = max(now, at);
      if (every !== undefined) timers[next] = { __proto__: null, at: now + every, every, call };
      schedule();
      call();
    }));
  };
  const set = repeat => (callback, ms = 0, ...args) => {
    const delay = max(1, trunc(+ms) || 0);
    timers[++lastId] = { __proto__: null, at: now + delay, every: repeat ? delay : undefined, call: () => callback(...args) };
    schedule();
    return lastId;
  };
  globalThis.setTimeout = set(false);
  globalThis.setInterval = set(true);
  globalThis.clearTimeout = globalThis.clearInterval = id => { if (typeof id === "number") delete timers[id]; };
  globalThis.performance = { now: () => now - start };
  const VirtualDate = globalThis.Date = new Proxy(RealDate, {
    construct: (date, args, target) => construct(date, args.length ? args : [now], target === VirtualDate ? date : target),
    apply: () => new RealDate(now).toString(),
  });
  RealDate.now = () => now;
}
