// Work side by side: `parallel` and `pipeline`.

import { TypeError, isArray, newList, promiseThen, push, toArray } from './capture.js';
import { endsTheRun } from './errors.js';

/** A failed branch is a null. An error that ends the run is kept, and thrown when the other branches are done. */
const settle = async (branches) => {
  const results = newList();
  let ending;
  for (let i = 0; i < branches.length; i++) {
    const { value, error, failed } = await branches[i];
    if (failed && ending === undefined && endsTheRun(error)) ending = { __proto__: null, error };
    push(results, failed ? null : value);
  }
  if (ending !== undefined) throw ending.error;
  return toArray(results);
};

/** Starts a branch now. What it throws, now or later, is a value of the branch. */
const start = (work) => promiseThen(
  work(),
  (value) => ({ __proto__: null, value, failed: false }),
  (error) => ({ __proto__: null, error, failed: true }),
);

/** `parallel(thunks)`: the results in the order of the thunks, when all are done. A thunk may give a plain value. */
export const parallel = async (thunks) => {
  if (!isArray(thunks)) throw new TypeError('parallel() needs a list of functions');
  for (let i = 0; i < thunks.length; i++) {
    if (typeof thunks[i] !== 'function') throw new TypeError('parallel() needs functions: write `() => agent(…)` and not `agent(…)`');
  }
  const branches = newList();
  for (let i = 0; i < thunks.length; i++) {
    const thunk = thunks[i];
    push(branches, start(async () => await thunk()));
  }
  return await settle(branches);
};

/**
 * `pipeline(items, ...stages)`: each item goes through the stages on its own; `stage(previous, item, index)`.
 *
 * Only a throw drops an item, which makes its result null. A stage that returns null has returned a value like any other, and
 * the next stage gets it: whether a null means "stop" is for the stage to say.
 */
export const pipeline = async (items, ...stages) => {
  if (!isArray(items)) throw new TypeError('pipeline() needs a list of items');
  for (let s = 0; s < stages.length; s++) if (typeof stages[s] !== 'function') throw new TypeError('a stage of pipeline() is a function');
  const branches = newList();
  for (let i = 0; i < items.length; i++) {
    const item = items[i];
    push(branches, start(async () => {
      let previous = item;
      for (let s = 0; s < stages.length; s++) previous = await stages[s](previous, item, i);
      return previous;
    }));
  }
  return await settle(branches);
};
