// Failures of a workflow: what the host reports as JSON, and the error that a workflow catches.

import { Error, WeakMap, isArray, isObject, jsonCopy, join, objectKeys, setField, setHidden, showText, weakHas, weakSet } from './capture.js';

const thrown = new WeakMap();

const detailOf = (error) => {
  switch (error.kind) {
    case 'AdapterSpawn': return error.cause;
    case 'SchemaValidation': return isArray(error.issues) ? join(error.issues, '; ') : '';
    case 'BudgetExhausted': return error.spent + ' of ' + error.total + ' output tokens are spent';
    case 'AgentCapExceeded': return 'a run may start ' + error.cap + ' agents';
    case 'UnansweredQuestion': return 'nobody answered `' + error.key + '`, and it has no default';
    case 'Timeout': return error.what + ' took longer than ' + error.ms + ' ms';
    case 'Divergence': return 'call ' + error.call + ' was `' + error.expected + '` in the record and is `' + error.found + '` now';
    case 'Cancelled': return error.reason;
    default: return error.message ?? error.detail;
  }
};

/** The error that is thrown for a `WorkflowError`. */
export const workflowThrow = (error) => {
  const detail = detailOf(error);
  const made = new Error(detail === undefined || detail === '' ? error.kind : error.kind + ': ' + detail);
  setHidden(made, 'name', 'WorkflowThrow');
  setField(made, 'workflowError', error);
  weakSet(thrown, made, true);
  return made;
};

/** The `WorkflowError` that an error carries, else undefined. */
export const carriedError = (error) => {
  if (!isObject(error)) return undefined;
  const carried = error.workflowError;
  return isObject(carried) && typeof carried.kind === 'string' ? carried : undefined;
};

/**
 * Whether an error ends the run and is not the failure of one branch: `parallel` must not turn a cancellation or a replay that
 * went another way into a null, or the workflow goes on with results that never were.
 */
export const endsTheRun = (error) => {
  if (!isObject(error) || !weakHas(thrown, error)) return false;
  const fault = error.workflowError;
  return isCancellation(fault) || fault.kind === 'Divergence' || fault.kind === 'JournalCorrupt';
};

/** Whether a `WorkflowError` says that the run is to end. The second form is how a run says that someone stopped it. */
export const isCancellation = (fault) =>
  fault.kind === 'Cancelled' || (fault.kind === 'AdapterSpawn' && fault.adapter === 'run' && fault.cause === 'run stopped');

/** Whether trying again can help. What the run itself refuses stays refused. */
export const mayPass = (error) => {
  const carried = carriedError(error);
  if (carried === undefined) return true;
  switch (carried.kind) {
    case 'AdapterSpawn': return carried.adapter !== 'run' && carried.adapter !== 'workflow';
    case 'SchemaValidation': return carried.attempts !== 0;
    case 'Timeout': return true;
    default: return false;
  }
};

/** What is reported when nobody caught it. */
export const reported = (error) => {
  try {
    const carried = carriedError(error);
    if (carried !== undefined) return jsonCopy(carried);
  } catch {
    // Whatever it carries has no JSON form; then it is an exception like any other.
  }
  return { __proto__: null, kind: 'AdapterSpawn', adapter: 'run', cause: showText(error) };
};

/** Fails when JSON cannot hold the value, with the place: JSON itself would drop a function without a word. */
export const requireJson = (value, place = 'the value', above = undefined) => {
  const refuse = (what) => { throw new Error('the workflow returned what JSON cannot hold: ' + place + ' is ' + what); };
  if (typeof value === 'function' || typeof value === 'symbol') refuse('a ' + typeof value);
  if (typeof value === 'bigint') refuse('a BigInt');
  if (!isObject(value) || typeof value.toJSON === 'function') return;
  for (let at = above; at !== undefined; at = at.above) if (at.value === value) refuse('inside itself');
  const here = { __proto__: null, value, above };
  const isList = isArray(value);
  const keys = isList ? undefined : objectKeys(value);
  const count = isList ? value.length : keys.length;
  for (let i = 0; i < count; i++) {
    const key = isList ? i : keys[i];
    requireJson(value[key], place + (isList ? '[' + i + ']' : '.' + key), here);
  }
};
