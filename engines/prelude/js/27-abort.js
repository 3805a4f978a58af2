// Abort: AbortController and AbortSignal.

const ABORT_TIMEOUT_MAX = MAX_SAFE_INTEGER;
// Taken before a program can replace the method.
const addEventListenerOf = EventTarget.prototype.addEventListener;
const addListener = (target, type, listener) => { apply(addEventListenerOf, target, [type, listener]); };
const signalMaker = freeze({ __proto__: null });

class AbortSignal extends EventTarget {
  #aborted = false;
  #reason = undefined;
  #steps = newList();
  #onabort = null;
  #onabortListens = false;

  constructor() {
    if (arguments[0] !== signalMaker) throw new TypeError('Illegal constructor');
    super();
  }

  get aborted() { return this.#aborted; }
  get reason() { return this.#reason; }
  get onabort() { return this.#onabort; }
  set onabort(handler) {
    this.#onabort = isObject(handler) ? handler : null;
    // A handler is called in the order in which it was first set among the listeners.
    if (this.#onabort === null || this.#onabortListens) return;
    this.#onabortListens = true;
    addListener(this, 'abort', (event) => {
      if (this.#onabort !== null) callListener(this.#onabort, this, event);
    });
  }
  throwIfAborted() { if (this.#aborted) throw this.#reason; }

  static abort(reason = new DOMException('This operation was aborted', 'AbortError')) {
    const signal = new AbortSignal(signalMaker);
    signal.#aborted = true;
    signal.#reason = reason;
    return signal;
  }

  static timeout(milliseconds) {
    const delay = +milliseconds;
    if (!(delay >= 0 && delay <= ABORT_TIMEOUT_MAX)) throw new RangeError('The "delay" argument is out of range');
    const signal = new AbortSignal(signalMaker);
    nativeSetTimer(() => signal.#abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')),
      min(trunc(delay), TIMER_DELAY_MAX), false, []);
    return signal;
  }

  static any(signals) {
    const sources = newList();
    for (const source of signals) {
      if (!AbortSignal.#isOne(source)) throw new TypeError('The "signals" argument must be a sequence of AbortSignals');
      push(sources, source);
    }
    const signal = new AbortSignal(signalMaker);
    for (let i = 0; i < sources.length; i++) {
      if (sources[i].#aborted) {
        signal.#aborted = true;
        signal.#reason = sources[i].#reason;
        return signal;
      }
    }
    for (let i = 0; i < sources.length; i++) push(sources[i].#steps, () => { signal.#abort(sources[i].#reason); });
    return signal;
  }

  #abort(reason) {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#reason = reason;
    const steps = this.#steps;
    this.#steps = newList();
    for (let i = 0; i < steps.length; i++) steps[i]();
    const event = new Event('abort');
    dispatchEventTo(this, event);
  }

  static #isOne(value) { return isObject(value) && #aborted in value; }
  static inside() {
    return {
      isOne: (value) => AbortSignal.#isOne(value),
      isAborted: (signal) => signal.#aborted,
      reasonOf: (signal) => signal.#reason,
      abort: (signal, reason) => { signal.#abort(reason); },
      onAbort: (signal, step) => { push(signal.#steps, step); },
      offAbort: (signal, step) => {
        const at = listIndexOf(signal.#steps, step);
        if (at !== -1) listRemove(signal.#steps, at);
      },
    };
  }
}
const { isOne: isAbortSignal, isAborted, reasonOf, abort: abortSignal, onAbort, offAbort } = AbortSignal.inside();
delete AbortSignal.inside;
publish(AbortSignal);
showAs(AbortSignal, (signal) => ({ fields: { aborted: isAborted(signal) } }));

class AbortController {
  #signal = new AbortSignal(signalMaker);
  get signal() { return this.#signal; }
  abort(reason = new DOMException('This operation was aborted', 'AbortError')) { abortSignal(this.#signal, reason); }
}
defineProperty(AbortController.prototype.abort, 'length', { __proto__: null, value: 0, writable: false, enumerable: false, configurable: true });
publish(AbortController);
const controllerSignal = uncurryGetter(AbortController.prototype, 'signal');
showAs(AbortController, (controller) => ({ fields: { signal: controllerSignal(controller) } }));
