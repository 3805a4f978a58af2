// Loads the library as the isolate does: modules in a realm of their own, with a host that a test plays.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import vm from 'node:vm';

const GUEST = new URL('../', import.meta.url);

/** What a realm has besides the language. */
const ambient = (clock) => ({
  console,
  URL,
  performance: { now: () => 1 },
  crypto: { randomUUID: () => 'u' },
  setInterval: () => 0,
  clearInterval: () => {},
  queueMicrotask: () => {},
  external_workflow_agent: () => {},
  AbortSignal: class AbortSignal { static timeout() {} },
  setTimeout: (callback, ms) => clock.start(callback, ms),
  clearTimeout: (id) => clock.stop(id),
});

/** Time that moves only when nothing else is left to do. */
export const makeClock = () => {
  const timers = new Map();
  let nextId = 1;
  const clock = {
    at: 0,
    waits: [],
    start(callback, ms) {
      clock.waits.push(ms);
      timers.set(nextId, { callback, due: clock.at + ms, id: nextId });
      return nextId++;
    },
    stop: (id) => timers.delete(id),
    pending: () => timers.size,
    step() {
      const [first] = [...timers.values()].sort((a, b) => a.due - b.due || a.id - b.id);
      if (first === undefined) return false;
      timers.delete(first.id);
      clock.at = first.due;
      first.callback();
      return true;
    },
  };
  return clock;
};

const quiet = () => new Promise((resolve) => { setImmediate(resolve); });

/**
 * Runs a program: `files` are modules by name, `main` is the driver. `host` answers calls: `host.agent(args)` and so on.
 * Gives the program's default export with what reached the host.
 */
export const runProgram = async (files, main, { input, host = {}, clock = makeClock(), globals = {} } = {}) => {
  const calls = [];
  const play = (name) => async (args) => {
    // As the engine does it: values cross as JSON.
    const sent = JSON.parse(JSON.stringify(args));
    calls.push({ fn: name, ...sent });
    const answer = await (host[name] ?? defaultHost[name])(sent, calls);
    return answer === undefined ? undefined : inside(JSON.stringify(answer));
  };
  const workflow = Object.fromEntries(['agent', 'ask', 'wait', 'now', 'random', 'emit'].map((name) => [name, play(name)]));
  const context = vm.createContext({ ...ambient(clock), tools: Object.freeze({ workflow, other: 1 }), ...globals });
  const inside = vm.runInContext('((parse) => (text) => parse(text))(JSON.parse)', context);
  // Values of the realm itself, as a guest has them.
  context.input = input === undefined ? undefined : inside(JSON.stringify(input));

  const cache = new Map();
  const read = (name) => files[name] ?? readFileSync(fileURLToPath(new URL(name.replace('@isolith/', ''), GUEST)), 'utf8');
  const load = (name) => {
    if (!cache.has(name)) cache.set(name, new vm.SourceTextModule(read(name), { context, identifier: name }));
    return cache.get(name);
  };
  const link = (specifier, from) => {
    const base = from.identifier.startsWith('@isolith/') && !specifier.includes('@isolith/') ? '@isolith/' : '';
    return load(base + specifier.replace(/^\.\//, ''));
  };
  const module = new vm.SourceTextModule(main, { context, identifier: 'driver.js' });
  await module.link(link);
  let over = false;
  const ran = module.evaluate().finally(() => { over = true; });
  ran.catch(() => {});
  for (let turns = 0; !over; turns++) {
    if (turns > 10_000) throw new Error('the program waits for nothing');
    await quiet();
    if (!over) clock.step();
  }
  await ran;
  const { default: result } = module.namespace;
  return { result: result === undefined ? undefined : JSON.parse(JSON.stringify(result)), calls, clock };
};

const defaultHost = {
  agent: ({ label }) => ({ ok: { text: `text of ${label}`, outputTokens: 1 } }),
  ask: ({ default: value, key }) => (value === undefined ? { error: { kind: 'UnansweredQuestion', key } } : { ok: { text: String(value), data: value } }),
  wait: () => ({ ok: { value: null } }),
  now: () => ({ ok: 1_000 }),
  random: () => ({ ok: 0.5 }),
  emit: () => ({ ok: true }),
};

export const PRIMITIVES = 'agent, parallel, pipeline, phase, log, workflow, askUserQuestion, args, budget, z, profile, defineWorkflow, step, sleep, sleepUntil, waitFor, timeout, retry, now, random, patched, cleanup';

/** The module that a workflow file becomes. */
export const asModule = (body) => `export default async ({ ${PRIMITIVES} }) => {{ ${body}\n;}}`;
/** The driver of a workflow with children. */
export const asDriver = (children = [], legacy = true) => `import { drive } from "./@isolith/workflow.js";
import main from "./main.ts";
${children.map((name, i) => `import child${i} from "./${name}.ts";`).join('\n')}
export default await drive({ name: "main", legacy: ${legacy}, body: main }, { ${children.map((name, i) => `"${name}": { name: "${name}", legacy: true, body: child${i} }`).join(', ')} });`;

/** Runs the text of a legacy workflow body. */
export const run = (body, { children = {}, files = {}, legacy, ...options } = {}) => {
  const modules = { 'main.ts': asModule(body), ...files };
  for (const [name, text] of Object.entries(children)) modules[`${name}.ts`] = asModule(text);
  return runProgram(modules, asDriver(Object.keys(children), legacy), options);
};
