// The library of workflows: what a workflow imports, and `drive`, which runs one and says what came of it.
//
// Loading it closes the clock, randomness and the rest (`determinism.js`), so it must be the first import of a program.

import { detached, hasOwn, jsonCopy } from './capture.js';
import { install } from './determinism.js';
import { reported, requireJson } from './errors.js';
import { given, takeEvents } from './host.js';
import { makePrimitives, runBody, workflowOver } from './primitives.js';

install();

let children = { __proto__: null };
const findChild = (name) => (typeof name === 'string' && hasOwn(children, name) ? children[name] : undefined);
const root = makePrimitives(given.args, workflowOver(findChild));

// For the modules next to a workflow. They are those of the workflow of the run, also where a child uses the same module.
export const {
  agent, parallel, pipeline, phase, log, workflow, askUserQuestion, args, budget, z, profile, defineWorkflow,
  step, sleep, sleepUntil, waitFor, timeout, retry, now, random, patched, cleanup,
} = root;

/**
 * Runs `main` and gives `{ outcome, value | error, events }`; it never throws.
 *
 * `main` and each of `others` is `{ name, legacy, body }`, where `body` is the function that a workflow file was made into.
 */
export const drive = async (main, others = {}) => {
  children = others;
  try {
    const value = await runBody(main, root);
    requireJson(value);
    const events = takeEvents();
    return value === undefined ? { __proto__: null, outcome: 'finished', events } : { __proto__: null, outcome: 'finished', value: detached(jsonCopy(value)), events };
  } catch (error) {
    return { __proto__: null, outcome: 'failed', error: detached(reported(error)), events: takeEvents() };
  }
};
