// Trying again: how often, after how long, and for what.

import { RangeError, TypeError, isInteger, isObject, min, ownFields } from './capture.js';
import { milliseconds } from './durations.js';
import { endsTheRun, mayPass } from './errors.js';
import { pause } from './host.js';

const RETRIES_MAX = 1000;
const DELAY_MS_MAX = 86_400_000;

/** A number of retries, or `{ max, delay, factor, maxDelay, retryIf }`. */
export const policyOf = (given) => {
  if (typeof given !== 'number' && !isObject(given)) throw new TypeError('retries are a number or { max, delay, factor }');
  const { max = 3, delay = 0, factor = 2, maxDelay = DELAY_MS_MAX, retryIf } = typeof given === 'number' ? { __proto__: null, max: given } : ownFields(given);
  if (!isInteger(max) || max < 0 || max > RETRIES_MAX) throw new RangeError('`max` is a whole number from 0 to ' + RETRIES_MAX);
  if (!(factor >= 1)) throw new RangeError('`factor` is 1 or more');
  if (retryIf !== undefined && typeof retryIf !== 'function') throw new TypeError('`retryIf` must be a function');
  return { __proto__: null, max, delayMs: milliseconds(delay), factor, maxDelayMs: milliseconds(maxDelay), retryIf };
};

/** Milliseconds before the retry after `tried` earlier ones. */
export const delayBefore = (policy, tried) => min(policy.delayMs * policy.factor ** tried, policy.maxDelayMs);

/** `retry(fn, policy)`: calls `fn(attempt)` until it does not throw, at most `max` times more. */
export const retry = async (fn, given = 3) => {
  if (typeof fn !== 'function') throw new TypeError('retry() needs a function');
  const policy = policyOf(given);
  for (let tried = 0; ; tried++) {
    try {
      return await fn(tried);
    } catch (error) {
      const again = tried < policy.max && !endsTheRun(error) && (policy.retryIf === undefined ? mayPass(error) : await policy.retryIf(error, tried));
      if (!again) throw error;
      const ms = delayBefore(policy, tried);
      if (ms > 0) await pause(ms);
    }
  }
};
