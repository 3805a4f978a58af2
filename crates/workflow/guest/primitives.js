// What a workflow is given: everything it can do. One set for the workflow of the run, and one for each it runs by name.

import { Date, Error, Promise, TypeError, WeakMap, copyFields, deepFreeze, freeze, hasOwn, includes, isObject, jsonCopy, jsonStringify, max, ownFields, promiseThen, showText, weakGet, weakSet } from './capture.js';
import { agent, askUserQuestion, profile } from './agent.js';
import { parallel, pipeline } from './branches.js';
import { milliseconds, moment } from './durations.js';
import { workflowThrow } from './errors.js';
import { alarm, askHost, cleaningUp, enterPhase, given, note, pause, spent } from './host.js';
import { retry } from './retry.js';
import { z } from './z.js';

const requireFunction = (value, what) => {
  if (typeof value !== 'function') throw new TypeError(what + ' needs a function');
};
const requireText = (value, what) => {
  if (typeof value !== 'string' || value === '') throw new TypeError(what + ' must be a text');
  return value;
};

const phase = (title) => { enterPhase(showText(title)); };

const asText = (value) => {
  if (typeof value === 'string') return value;
  if (!isObject(value) || value instanceof Error) return showText(value);
  try {
    return jsonStringify(value) ?? showText(value);
  } catch {
    return showText(value);
  }
};
const log = (message) => { note({ __proto__: null, type: 'log', message: asText(message) }); };

const { budgetTotal } = given;
const budget = freeze({
  total: budgetTotal,
  spent,
  remaining: () => (budgetTotal === null ? Infinity : max(0, budgetTotal - spent())),
});

const sleep = async (duration) => { await pause(milliseconds(duration)); };
const now = async () => new Date(await askHost('now', { __proto__: null }));
const random = async () => await askHost('random', { __proto__: null });
const sleepUntil = async (when) => {
  const until = moment(when);
  const left = until - await askHost('now', { __proto__: null });
  if (left > 0) await pause(left);
};

const waitFor = async (signal, options = {}) => {
  const { timeout } = ownFields(options);
  const request = { __proto__: null, signal: requireText(signal, 'the name of a signal') };
  const ms = timeout === undefined ? undefined : milliseconds(timeout);
  // A moment, and not a span: it is the same one after a restart.
  if (ms !== undefined) request.untilMs = (await askHost('now', { __proto__: null })) + ms;
  const answer = await askHost('wait', request);
  if (hasOwn(answer, 'timedOut')) throw workflowThrow({ kind: 'Timeout', what: 'waitFor("' + signal + '")', ms });
  return answer.value;
};

/** Fails when `fn` takes longer. What `fn` has begun goes on, but nobody waits for it any more. */
const withTimeout = (ms, fn, what) => new Promise((resolve, reject) => {
  const stop = alarm(ms, () => { reject(workflowThrow({ kind: 'Timeout', what, ms })); });
  promiseThen((async () => await fn())(), (value) => { stop(); resolve(value); }, (error) => { stop(); reject(error); });
});
const timeout = async (duration, fn) => {
  requireFunction(fn, 'timeout()');
  return await withTimeout(milliseconds(duration), fn, 'timeout()');
};

/** A named part of a workflow. Its calls keep their own names: a step can be put around them without changing what was recorded. */
const step = async (name, fn, options = {}) => {
  requireText(name, 'the name of a step');
  requireFunction(fn, 'step()');
  const { timeout, retries = 0 } = ownFields(options);
  const ms = timeout === undefined ? undefined : milliseconds(timeout);
  return await retry(async (attempt) => (ms === undefined ? await fn(attempt) : await withTimeout(ms, () => fn(attempt), 'step("' + name + '")')), retries);
};

/** Whether a change is on: always in a new run; in one that began before it, when the run was started with it. */
const patched = (id) => given.patches === null || includes(given.patches, requireText(id, 'the name of a patch'));
const cleanup = async (fn) => {
  requireFunction(fn, 'cleanup()');
  return await cleaningUp(fn);
};

const definitions = new WeakMap();
const defineWorkflow = (definition) => {
  if (!isObject(definition)) throw new TypeError('defineWorkflow() needs an object');
  requireFunction(definition.run, 'defineWorkflow({ run })');
  const made = freeze(copyFields({}, definition));
  weakSet(definitions, made, definition);
  return made;
};

/** Runs what a workflow file gave: `run` of a definition; what is none is already the result of a legacy file. */
export const runBody = async ({ name, legacy, body }, primitives) => {
  const made = await body(primitives);
  const definition = isObject(made) ? weakGet(definitions, made) : undefined;
  if (definition !== undefined) return await definition.run(primitives);
  if (!legacy) throw new Error('the default export of `' + name + '` is not a defineWorkflow({ … })');
  return made;
};

/** All primitives, for a workflow with these arguments. `workflow` runs others by name. */
export const makePrimitives = (args, workflow) => freeze({
  agent, parallel, pipeline, phase, log, workflow, askUserQuestion, args: deepFreeze(args), budget, z, profile, defineWorkflow,
  step, sleep, sleepUntil, waitFor, timeout, retry, now, random, patched, cleanup,
});

const NESTED = 'workflow() nesting is one level only';
const noWorkflow = async () => { throw workflowThrow({ kind: 'AdapterSpawn', adapter: 'workflow', cause: NESTED }); };

/** `workflow(name, args)` over these children. A child has its own arguments and shares numbers, phase and budget. */
export const workflowOver = (findChild) => async (name, args) => {
  const child = findChild(name);
  if (child === undefined) throw workflowThrow({ kind: 'AdapterSpawn', adapter: 'workflow', cause: 'no workflow named "' + showText(name) + '"' });
  return await runBody(child, makePrimitives(jsonCopy(args), noWorkflow));
};
