// The guest half of the engine `v8`: what the prelude builds on, and one run from its start to its end.
//
// What QuickJS has in C (`engines/quickjs/guest`) is here in JavaScript, over a few functions of the worker. These take and give
// everything through `cell`, a list that nobody else has: so that no look of a program's own is asked, and the worker reads no
// arguments of V8's. The rules of the prelude hold here as well: nothing that a program can replace is used after it has started.
(function (worker, cell, preludeText, preludeName) {
  'use strict';

  const {
    Date, Error, Float64Array, Function, JSON, Map, Math, Object, Promise, RangeError, Reflect, String, TypeError, Uint8Array, WeakMap, WeakSet,
  } = globalThis;
  const { apply, construct, defineProperty, getPrototypeOf, ownKeys } = Reflect;
  const { create, freeze, getOwnPropertyDescriptor, setPrototypeOf } = Object;
  const { parse: jsonParse, stringify: jsonStringify } = JSON;
  const { floor, trunc } = Math;
  const uncurry = Function.prototype.bind.bind(Function.prototype.call);
  const mapGet = uncurry(Map.prototype.get);
  const mapSet = uncurry(Map.prototype.set);
  const mapDelete = uncurry(Map.prototype.delete);
  const weakMapGet = uncurry(WeakMap.prototype.get);
  const weakMapSet = uncurry(WeakMap.prototype.set);
  const weakSetAdd = uncurry(WeakSet.prototype.add);
  const weakSetHas = uncurry(WeakSet.prototype.has);
  const typedSet = uncurry(getPrototypeOf(Uint8Array).prototype.set);
  const slice = uncurry(String.prototype.slice);
  const dateText = uncurry(Date.prototype.toString);
  const indexOf = uncurry(String.prototype.indexOf);

  const [
    workerJobs, workerReceive, workerReply, workerOutput, workerCall, workerWait, workerEnd, workerRandoms, workerRandomBytes,
    workerEncode, workerDecode, workerDigest, workerHmac, workerPeek, workerCompile, workerRun, workerImport, workerPlainUrl,
    workerReady,
  ] = worker;

  const defineHidden = (holder, key, value) =>
    defineProperty(holder, key, { __proto__: null, value, writable: true, enumerable: false, configurable: true });
  const newList = () => setPrototypeOf([], null);

  // --- what a program has no use for, or must not have ---------------------------------------------------------------------

  // What can be granted is kept for that.
  const { Atomics, SharedArrayBuffer, WebAssembly } = globalThis;
  // Finalizers run when the collector pleases, and a clock is hidden in each of the others: none can be repeated.
  const unwanted = ['FinalizationRegistry', 'SharedArrayBuffer', 'Atomics', 'WebAssembly', 'Temporal', 'Intl', 'console', 'escape', 'unescape'];
  for (let i = 0; i < unwanted.length; i++) delete globalThis[unwanted[i]];
  delete Date.prototype.toTemporalInstant;

  // --- time ------------------------------------------------------------------------------------------------------------------

  const BANNED_TIME = 1;
  const BANNED_RANDOM = 2;
  let banned = 0;
  let nowUs = 0; // the run's time; it stands still while the guest computes
  let startedUs = 0;
  // But who keeps looking sees it move, so that waiting in a loop ends: a millisecond for every so many looks.
  const LOOKS_PER_MS = 10_000;
  let looks = 0;
  const lookAtClock = () => {
    looks += 1;
    if (looks % LOOKS_PER_MS === 0) nowUs += 1000;
    return nowUs;
  };
  const violation = (kind, what) => {
    const time = kind === BANNED_TIME;
    return hooks.makeError('SandboxViolation', what + ' is not allowed: ' + (time ? 'time' : 'randomness') + ' is banned for this run',
      time ? 'time.banned' : 'random.banned');
  };
  const lookInVain = (kind, what, nothing) => {
    if (typeof what !== 'string') return nothing;
    throw violation(kind, what);
  };
  const nowMs = (what) => {
    if (banned & BANNED_TIME) throw violation(BANNED_TIME, what);
    return floor(lookAtClock() / 1000);
  };

  // V8's own constructor is not reachable any more: it would read the machine's clock.
  const NativeDate = Date;
  const GuestDate = function Date(year, month, day, hours, minutes, seconds, ms) {
    if (new.target === undefined) return dateText(new NativeDate(nowMs('argless new Date()')));
    if (arguments.length === 0) return construct(NativeDate, [nowMs('argless new Date()')], new.target);
    return construct(NativeDate, arguments, new.target);
  };
  defineProperty(GuestDate, 'prototype', { __proto__: null, value: NativeDate.prototype, writable: false, enumerable: false, configurable: false });
  defineHidden(GuestDate, 'now', { now() { return nowMs('Date.now()'); } }.now);
  defineHidden(GuestDate, 'parse', NativeDate.parse);
  defineHidden(GuestDate, 'UTC', NativeDate.UTC);
  defineHidden(NativeDate.prototype, 'constructor', GuestDate);
  defineHidden(globalThis, 'Date', GuestDate);

  // --- errors -------------------------------------------------------------------------------------------------------------------

  // A stack overflow is known by what it is not: made by a program.
  const NativeRangeError = RangeError;
  const made = new WeakSet();
  const GuestRangeError = function RangeError(message, options) {
    const error = construct(NativeRangeError, arguments, new.target ?? GuestRangeError);
    weakSetAdd(made, error);
    return error;
  };
  setPrototypeOf(GuestRangeError, Error);
  defineProperty(GuestRangeError, 'length', { __proto__: null, value: 1, writable: false, enumerable: false, configurable: true });
  defineProperty(GuestRangeError, 'prototype', { __proto__: null, value: NativeRangeError.prototype, writable: false, enumerable: false, configurable: false });
  defineHidden(NativeRangeError.prototype, 'constructor', GuestRangeError);
  defineHidden(globalThis, 'RangeError', GuestRangeError);
  const OVERFLOW = 'Maximum call stack size exceeded';
  const isOverflow = (thrown, message) =>
    message === OVERFLOW && !weakSetHas(made, thrown) && getPrototypeOf(thrown) === NativeRangeError.prototype;

  // --- randomness --------------------------------------------------------------------------------------------------------------

  const RANDOMS = 64; // drawn at a time
  let randoms;
  let randomsLeft = 0;
  const random = {
    random() {
      if (banned & BANNED_RANDOM) throw violation(BANNED_RANDOM, 'Math.random()');
      if (randomsLeft === 0) {
        cell[0] = RANDOMS;
        workerRandoms();
        randoms = new Float64Array(cell[0]);
        randomsLeft = RANDOMS;
      }
      return randoms[RANDOMS - randomsLeft--];
    },
  }.random;
  defineHidden(Math, 'random', random);

  // --- host calls ----------------------------------------------------------------------------------------------------------------

  const CALL_TOOL = 0;
  const CALL_SLEEP = 1;
  const CALL_READ_BODY = 2;
  const CALL_ASK = 3;
  const CALL_GET = 4;
  const REPLY_UNDEFINED = 1;
  const REPLY_BYTES = 2;
  const REPLY_BODY = 3;
  const REPLY_FAILED = 4;
  const REPLY_RESPONSE = 5;

  let payloadMax = 16 << 20;
  let nextCall = 0;
  let outstanding = 0;
  const calls = new Map();

  /** Makes a call and gives the promise of its reply. What is too large is not sent. */
  const makeCall = (kind, name, text, bytes, make) => {
    const id = nextCall;
    cell[0] = id;
    cell[1] = kind;
    cell[2] = name;
    cell[3] = text;
    cell[4] = bytes;
    workerCall();
    if (cell[0] !== 0) throw new RangeError('the arguments are larger than ' + payloadMax + ' bytes, the limit of one call');
    nextCall += 1;
    outstanding += 1;
    return new Promise((resolve, reject) => { mapSet(calls, id, { __proto__: null, resolve, reject, make }); });
  };
  const tool = (name, shown) => ({
    [shown](argument) {
      try {
        return makeCall(CALL_TOOL, name, jsonStringify(argument), undefined, undefined);
      } catch (error) {
        return new Promise((_, reject) => { reject(error); });
      }
    },
  })[shown];
  const ask = (what, bytes, make) => {
    const text = jsonStringify(what);
    if (text === undefined) throw new TypeError('there is nothing to ask');
    return makeCall(CALL_ASK, '', text, bytes, make);
  };
  const plainUrl = (text) => {
    cell[0] = text;
    workerPlainUrl();
    return cell[0];
  };
  const get = (url, request, make) => (plainUrl(url) === 0 ? undefined : makeCall(CALL_GET, request, url, undefined, make));
  const readBody = (id, most) => makeCall(CALL_READ_BODY, id, most, undefined, undefined);

  const replyValue = (kind, first, second, third) => {
    switch (kind) {
      case REPLY_UNDEFINED: return undefined;
      case REPLY_BYTES: return new Uint8Array(first);
      case REPLY_BODY: return hooks.makeBody(first, second < 0 ? null : second);
      case REPLY_FAILED: return hooks.makeError(first, second, third);
      case REPLY_RESPONSE: return first;
      default: return jsonParse(first);
    }
  };
  const settle = (call, kind, first, second, third) => {
    let value;
    try {
      value = replyValue(kind, first, second, third);
      if (kind !== REPLY_FAILED && call.make !== undefined) {
        value = kind === REPLY_RESPONSE ? call.make(value, new Uint8Array(second), third) : call.make(value);
      }
    } catch (error) {
      call.reject(error);
      return;
    }
    if (kind === REPLY_FAILED) call.reject(value);
    else call.resolve(value);
  };

  // --- timers: a heap ordered by deadline, then by age; the host only ever holds one wake-up call, for the earliest ----------------

  const TIMERS_MAX = 10000;
  const TIMER_LEAST_US = 1000;
  const TIMER_MOST_US = 2147483647000;
  const TIMER_ARGUMENTS_MAX = 16;
  const timers = newList();
  let nextTimer = 1;
  let sleepCall = -1;
  let sleepUntil = 0;

  const before = (a, b) => (a.dueUs !== b.dueUs ? a.dueUs < b.dueUs : a.id < b.id);
  const swap = (i, j) => {
    const held = timers[i];
    timers[i] = timers[j];
    timers[j] = held;
  };
  const timerUp = (from) => {
    let i = from;
    while (i > 0) {
      const above = (i - 1) >> 1;
      if (!before(timers[i], timers[above])) return;
      swap(i, above);
      i = above;
    }
  };
  const timerDown = (from) => {
    let i = from;
    for (;;) {
      let least = i;
      for (let k = 2 * i + 1; k <= 2 * i + 2; k++) if (k < timers.length && before(timers[k], timers[least])) least = k;
      if (least === i) return;
      swap(i, least);
      i = least;
    }
  };
  const timerAdd = (timer) => {
    timers[timers.length] = timer;
    timerUp(timers.length - 1);
  };
  const timerTake = (i) => {
    const taken = timers[i];
    const last = timers[timers.length - 1];
    timers.length -= 1;
    if (i < timers.length) {
      timers[i] = last;
      timerUp(i);
      timerDown(i);
    }
    return taken;
  };
  const setTimer = (fn, delay, repeat, values) => {
    if (timers.length >= TIMERS_MAX) throw new RangeError('more than ' + TIMERS_MAX + ' timers');
    let us = trunc(+delay) * 1000;
    if (!(us >= TIMER_LEAST_US) || us > TIMER_MOST_US) us = TIMER_LEAST_US;
    const id = nextTimer;
    nextTimer += 1;
    timerAdd({ __proto__: null, dueUs: nowUs + us, periodUs: repeat ? us : 0, id, fn, values });
    return id;
  };
  const clearTimer = (id) => {
    if (typeof id !== 'number') return;
    for (let i = 0; i < timers.length; i++) {
      if (timers[i].id === id) {
        timerTake(i);
        return;
      }
    }
  };
  /** Runs the earliest timer that is due; says whether there was one. */
  const timerFire = () => {
    if (timers.length === 0 || timers[0].dueUs > nowUs) return false;
    const timer = timerTake(0);
    const given = newList();
    if (timer.values !== undefined) {
      for (let i = 0; i < timer.values.length && i < TIMER_ARGUMENTS_MAX; i++) given[i] = timer.values[i];
    }
    if (timer.periodUs !== 0) {
      timer.dueUs = nowUs + timer.periodUs;
      timerAdd(timer);
    }
    apply(timer.fn, undefined, given);
    return true;
  };
  const timersAsk = () => {
    if (timers.length === 0 || (sleepCall !== -1 && sleepUntil <= timers[0].dueUs)) return;
    sleepUntil = timers[0].dueUs;
    sleepCall = nextCall;
    nextCall += 1;
    cell[0] = sleepCall;
    cell[1] = CALL_SLEEP;
    cell[2] = sleepUntil;
    workerCall();
  };

  // --- promises that were rejected while nobody listened -------------------------------------------------------------------------

  const UNHANDLED_MAX = 64;
  const REPORTED_MAX = 20;
  const REJECTED_UNHANDLED = 0;
  const HANDLED_LATER = 1;
  const unhandled = newList();
  let reported = 0;
  const onRejection = (event, promise) => {
    if (event === REJECTED_UNHANDLED) {
      if (unhandled.length < UNHANDLED_MAX && reported < REPORTED_MAX) unhandled[unhandled.length] = promise;
      return;
    }
    if (event !== HANDLED_LATER) return;
    for (let i = unhandled.length; i-- > 0;) {
      if (unhandled[i] !== promise) continue;
      for (let k = i; k + 1 < unhandled.length; k++) unhandled[k] = unhandled[k + 1];
      unhandled.length -= 1;
      return;
    }
  };
  const reportRejections = () => {
    while (unhandled.length > 0) {
      const promise = unhandled[0];
      for (let k = 0; k + 1 < unhandled.length; k++) unhandled[k] = unhandled[k + 1];
      unhandled.length -= 1;
      if (promise === run || reported >= REPORTED_MAX) continue;
      reported += 1;
      try {
        hooks.reportRejection(promiseState(promise)[1]);
      } catch {
        // Showing it ran the program's code, and that threw.
      }
    }
  };

  // --- what only V8 can tell ------------------------------------------------------------------------------------------------------

  const PEEK_PROMISE = 0;
  const PEEK_PROXY = 1;
  const NOT_ONE = -1;
  const promiseState = (value) => {
    cell[0] = PEEK_PROMISE;
    cell[1] = value;
    workerPeek();
    const state = cell[0];
    const result = cell[1];
    cell[1] = undefined;
    return state === NOT_ONE ? undefined : [state, result];
  };
  const proxyTarget = (value) => {
    cell[0] = PEEK_PROXY;
    cell[1] = value;
    workerPeek();
    const target = cell[1];
    cell[1] = undefined;
    if (cell[0] === NOT_ONE) return undefined;
    return cell[0] === 0 ? null : target;
  };

  // --- stacks, as QuickJS writes them: frames only ----------------------------------------------------------------------------------

  let siteFunction;
  let siteFile;
  let siteLine;
  let siteColumn;
  let siteIsNative;
  const formatStack = (error, sites) => {
    if (siteFile === undefined) {
      const methods = getPrototypeOf(sites[0]);
      siteFunction = uncurry(methods.getFunctionName);
      siteFile = uncurry(methods.getFileName);
      siteLine = uncurry(methods.getLineNumber);
      siteColumn = uncurry(methods.getColumnNumber);
      siteIsNative = uncurry(methods.isNative);
    }
    let text = '';
    for (let i = 0; i < sites.length; i++) {
      const file = siteFile(sites[i]);
      const name = siteFunction(sites[i]);
      if (file === preludeName && name === 'main') break; // what is below is not the program's
      if (file === preludeName) continue;
      const line = siteLine(sites[i]);
      text += '    at ' + (typeof name === 'string' && name !== '' ? name : '<anonymous>');
      if (siteIsNative(sites[i]) || line === null) text += ' (native)\n';
      else text += ' (' + (typeof file === 'string' ? file : '<input>') + ':' + line + ':' + siteColumn(sites[i]) + ')\n';
    }
    return text;
  };

  // --- bytes and text -----------------------------------------------------------------------------------------------------------------

  const bytesFrom = (native) => {
    native();
    return new Uint8Array(cell[0]);
  };
  const native = {
    output(stream, text) {
      cell[0] = stream;
      cell[1] = String(text);
      workerOutput();
    },
    tool,
    ask,
    payloadMax: () => payloadMax,
    spaceName: (object) => weakMapGet(spaceNames, object),
    findSpace: (name) => (typeof name === 'string' ? mapGet(spaces, name) : undefined),
    readBody,
    setTimer,
    clearTimer,
    now: (what) => (banned & BANNED_TIME ? lookInVain(BANNED_TIME, what, 0) : lookAtClock() / 1000),
    startedAt: (what) => (banned & BANNED_TIME ? lookInVain(BANNED_TIME, what, 0) : startedUs / 1000),
    randomFill(bytes, what) {
      if (banned & BANNED_RANDOM) return lookInVain(BANNED_RANDOM, what, false);
      cell[0] = bytes.length;
      typedSet(bytes, bytesFrom(workerRandomBytes));
      return true;
    },
    utf8Encode(text) {
      cell[0] = String(text);
      return bytesFrom(workerEncode);
    },
    utf8Decode(bytes, fatal, skipMark) {
      cell[0] = bytes;
      cell[1] = fatal ? 1 : 0;
      cell[2] = skipMark ? 1 : 0;
      workerDecode();
      const text = cell[0];
      if (typeof text !== 'string') throw new TypeError('The encoded data was not valid for encoding utf-8');
      return text;
    },
    plainUrl,
    get,
    digest(name, bytes) {
      cell[0] = name;
      cell[1] = bytes;
      return bytesFrom(workerDigest);
    },
    hmac(name, key, bytes) {
      cell[0] = name;
      cell[1] = key;
      cell[2] = bytes;
      return bytesFrom(workerHmac);
    },
    promiseState,
    proxyTarget,
  };

