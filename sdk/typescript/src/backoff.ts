/** How a lost connection is tried again. */
export interface Backoff {
  /** How often, before giving up. 0 never tries again. */
  readonly attempts: number;
  readonly firstDelayMs: number;
  readonly longestDelayMs: number;
}

export const DEFAULT_BACKOFF: Backoff = { attempts: 12, firstDelayMs: 50, longestDelayMs: 5000 };

/** The delay before another attempt, or `undefined` to give up. Attempts count from 0. */
export function delayBefore(attempt: number, backoff: Backoff, random: () => number = Math.random): number | undefined {
  if (attempt >= backoff.attempts) return undefined;
  const whole = Math.min(backoff.longestDelayMs, backoff.firstDelayMs * 2 ** attempt);
  // Half of it is random: clients that were lost together do not come back together.
  return whole / 2 + (whole / 2) * random();
}
