import type { RunHandle } from "./isolith.js";
import type { Outcome } from "./outcome.js";

/** The server keeps the deadline itself, and knows best what happened. This is for one that cannot any more. */
const GRACE_MS = 250;

/** The outcome of a run, or `undefined` when its time is over and the server did not say so. The run is stopped then. */
export function outcomeInTime<T>(handle: RunHandle<T>, timeoutMs: number): Promise<Outcome<T> | undefined> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      handle.cancel();
      resolve(undefined);
    }, timeoutMs + GRACE_MS);
    const settle =
      <V>(act: (value: V) => void) =>
      (value: V) => {
        clearTimeout(timer);
        act(value);
      };
    handle.outcome.then(settle(resolve), settle(reject));
  });
}
