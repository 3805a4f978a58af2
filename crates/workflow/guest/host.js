// The way to the host: calls, the events that go with them, timers, and what a run keeps count of.
//
// There is one run in an isolate, so its state is this module's. Workflows that are run by `workflow()` share it.

import { Error, Promise, detached, freeze, hasOwn, isObject, isSafeInteger, jsonCopy, min, newList, promiseThen, push } from './capture.js';
import { isCancellation, workflowThrow } from './errors.js';

// Taken once: `determinism.js` removes the ways to them afterwards.
const { agent, ask, wait, now, random, emit } = tools.workflow;
const functions = { __proto__: null, agent, ask, wait, now, random, emit };
const { setTimeout: startTimer, clearTimeout: stopTimer } = globalThis;
/** What one timer can wait: longer waits are made of several. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** What the run was given. `patches` is null where every change is on. */
export const given = freeze({
  __proto__: null,
  args: jsonCopy(input?.args),
  budgetTotal: input?.budgetTotal ?? null,
  patches: input?.patches ?? null,
});

let nextSeq = 0;
let phase = 'default';
let spentTokens = 0;
let events = newList();
/** The answer that said the run was cancelled. From then on nothing is asked any more, except in `cleanup`. */
let cancelled;
let cleanups = 0;

/** Numbers a call. It is done when the workflow calls, not when the host is asked: the order of the calls is their identity. */
export const takeSeq = () => nextSeq++;
export const currentPhase = () => phase;
export const enterPhase = (title) => {
  phase = title;
  note({ __proto__: null, type: 'phase-started', phase });
};

/** Remembers an event until the next call takes it along. */
export const note = (event) => { push(events, detached(event)); };
/** The events that no call took along yet. */
export const takeEvents = () => {
  const taken = events;
  events = newList();
  return taken;
};

export const spent = () => spentTokens;
const count = (tokens) => { if (isSafeInteger(tokens) && tokens > 0) spentTokens += tokens; };

/** Throws when the run was cancelled and nothing is being cleaned up. */
export const requireGoingOn = () => {
  if (cancelled !== undefined && cleanups === 0) throw workflowThrow(cancelled);
};

/** Runs `fn` although the run may be cancelled. */
export const cleaningUp = async (fn) => {
  cleanups += 1;
  try {
    return await fn();
  } finally {
    cleanups -= 1;
  }
};

/**
 * Asks the host and gives what it answered under `ok`, or throws what it answered under `error`.
 *
 * The call waits for one turn of the queue. All that a workflow starts at once is then announced before the first of it runs,
 * because the first call takes the events of all along.
 */
export const askHost = async (name, request) => {
  await undefined;
  requireGoingOn();
  request.events = takeEvents();
  // The host refuses every call of a cancelled run; this says that it is meant.
  if (cancelled !== undefined) request.cleanup = true;
  const answer = await functions[name](request);
  if (!isObject(answer)) throw new Error('the host answered `' + name + '` with nothing');
  const failed = hasOwn(answer, 'error');
  count(failed ? answer.outputTokens : answer.ok?.outputTokens);
  if (!failed) return answer.ok;
  if (isCancellation(answer.error)) cancelled ??= answer.error;
  throw workflowThrow(answer.error);
};

/** Tells the host what happened so far, before a wait that no call goes with: also nothing, so that what is told changes no call. */
const tellEvents = () => {
  promiseThen(functions.emit({ __proto__: null, events: takeEvents() }), undefined, () => {});
};

/** A wait that a restart of the host outlives. */
export const pause = async (ms) => {
  requireGoingOn();
  tellEvents();
  let left = ms;
  do {
    const part = min(left, TIMER_MS_MAX);
    await new Promise((resolve) => { startTimer(() => { resolve(undefined); }, part); });
    left -= part;
  } while (left > 0);
};

/** Calls `late` after `ms`, unless the returned function is called before. */
export const alarm = (ms, late) => {
  let left = ms;
  let timer;
  const wind = () => {
    const part = min(left, TIMER_MS_MAX);
    left -= part;
    timer = startTimer(left > 0 ? wind : late, part);
  };
  wind();
  return () => { stopTimer(timer); };
};
