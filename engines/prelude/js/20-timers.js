// Timers and microtasks. The engine keeps the time and the queue; here are the platform's functions over it.

const TIMER_DELAY_MAX = 2 ** 31 - 1;

const requireFunction = (value, name) => {
  if (typeof value !== 'function') throw new TypeError('The "' + name + '" argument must be of type function. Received ' + inspect(value, { __proto__: null, depth: 0 }));
};
/** As Node has it: what is not between 1 ms and 24.8 days is 1 ms. */
const timerDelay = (delay) => {
  const number = +delay;
  return number >= 1 && number <= TIMER_DELAY_MAX ? trunc(number) : 1;
};

const timers = {
  setTimeout(callback, delay = 1, ...values) {
    requireFunction(callback, 'callback');
    return nativeSetTimer(callback, timerDelay(delay), false, values);
  },
  setInterval(callback, delay = 1, ...values) {
    requireFunction(callback, 'callback');
    return nativeSetTimer(callback, timerDelay(delay), true, values);
  },
  clearTimeout(id) { nativeClearTimer(id); },
  clearInterval(id) { nativeClearTimer(id); },
  queueMicrotask(callback) {
    requireFunction(callback, 'callback');
    enqueueMicrotask(callback);
  },
};
// The engine's own function reports what a callback throws. Where there is none, a settled promise runs the callback,
// and what it throws is an unhandled rejection: reported by the engine as well.
const enqueueMicrotask = typeof globalThis.queueMicrotask === 'function'
  ? globalThis.queueMicrotask
  : (callback) => { promiseThen(resolved(), () => { callback(); }); };

defineGlobal('setTimeout', timers.setTimeout);
defineGlobal('setInterval', timers.setInterval);
defineGlobal('clearTimeout', timers.clearTimeout);
defineGlobal('clearInterval', timers.clearInterval);
defineGlobal('queueMicrotask', timers.queueMicrotask);
