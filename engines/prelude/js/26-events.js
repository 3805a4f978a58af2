// Events: Event, CustomEvent and EventTarget, without a tree to bubble through.

const PHASES = [['NONE', 0], ['CAPTURING_PHASE', 1], ['AT_TARGET', 2], ['BUBBLING_PHASE', 3]];

class Event {
  #type;
  #bubbles;
  #cancelable;
  #composed;
  #timeStamp;
  #target = null;
  #currentTarget = null;
  #dispatching = false;
  #canceled = false;
  #passive = false;
  #stopped = false;
  #stoppedNow = false;

  constructor(type, init = undefined) {
    if (arguments.length === 0) throw new TypeError('The "type" argument must be specified');
    this.#type = toText(type);
    this.#bubbles = Boolean(init?.bubbles);
    this.#cancelable = Boolean(init?.cancelable);
    this.#composed = Boolean(init?.composed);
    this.#timeStamp = coarseNow();
  }

  get type() { return this.#type; }
  get target() { return this.#target; }
  get srcElement() { return this.#target; }
  get currentTarget() { return this.#currentTarget; }
  get eventPhase() { return this.#dispatching ? 2 : 0; }
  get bubbles() { return this.#bubbles; }
  get cancelable() { return this.#cancelable; }
  get composed() { return this.#composed; }
  get defaultPrevented() { return this.#canceled; }
  get returnValue() { return !this.#canceled; }
  set returnValue(value) { if (!value) this.#cancel(); }
  get cancelBubble() { return this.#stopped; }
  set cancelBubble(value) { if (value) this.#stopped = true; }
  get timeStamp() { return this.#timeStamp; }
  get isTrusted() { return false; }

  composedPath() { return this.#dispatching ? [this.#currentTarget] : []; }
  stopPropagation() { this.#stopped = true; }
  stopImmediatePropagation() {
    this.#stopped = true;
    this.#stoppedNow = true;
  }
  preventDefault() { this.#cancel(); }
  initEvent(type, bubbles = false, cancelable = false) {
    if (this.#dispatching) return;
    this.#type = toText(type);
    this.#bubbles = Boolean(bubbles);
    this.#cancelable = Boolean(cancelable);
    this.#canceled = false;
    this.#stopped = false;
    this.#stoppedNow = false;
  }

  #cancel() { if (this.#cancelable && !this.#passive) this.#canceled = true; }

  static isOne(value) { return isObject(value) && #type in value; }
  /** Calls the listeners in order; true unless the event was cancelled. */
  static dispatch(event, target, listeners) {
    if (event.#dispatching) throw new DOMException('The event is already being dispatched', 'InvalidStateError');
    event.#dispatching = true;
    event.#target = target;
    event.#currentTarget = target;
    for (let i = 0; i < listeners.length && !event.#stoppedNow; i++) {
      const entry = listeners[i];
      if (entry.removed) continue;
      if (entry.once) entry.remove();
      event.#passive = entry.passive;
      callListener(entry.listener, target, event);
      event.#passive = false;
    }
    event.#dispatching = false;
    event.#currentTarget = null;
    event.#stopped = false;
    event.#stoppedNow = false;
    return !event.#canceled;
  }
}
const { isOne: isEvent, dispatch: dispatchTo } = Event;
delete Event.isOne;
delete Event.dispatch;
for (let i = 0; i < PHASES.length; i++) {
  const constant = { __proto__: null, value: PHASES[i][1], writable: false, enumerable: true, configurable: false };
  defineProperty(Event, PHASES[i][0], constant);
  defineProperty(Event.prototype, PHASES[i][0], constant);
}
publish(Event);
showAs(Event, (event) => ({ fields: { type: event.type, defaultPrevented: event.defaultPrevented, cancelable: event.cancelable, timeStamp: event.timeStamp } }));

/** A listener that throws does not stop the others; the error is reported as an unhandled rejection. */
function callListener(listener, target, event) {
  try {
    if (typeof listener === 'function') apply(listener, target, [event]);
    else {
      const { handleEvent } = listener;
      if (typeof handleEvent !== 'function') throw new TypeError('The listener has no handleEvent function');
      apply(handleEvent, listener, [event]);
    }
  } catch (error) {
    rejected(error);
  }
}

class CustomEvent extends Event {
  #detail;
  constructor(type, init = undefined) {
    super(type, init);
    this.#detail = init?.detail ?? null;
  }
  get detail() { return this.#detail; }
  initCustomEvent(type, bubbles = false, cancelable = false, detail = null) {
    this.initEvent(type, bubbles, cancelable);
    this.#detail = detail;
  }
}
publish(CustomEvent);

class EventTarget {
  #listeners = newList();

  addEventListener(type, listener, options = undefined) {
    requireArguments(arguments, 2, 'addEventListener');
    const name = toText(type);
    const capture = captureOption(options);
    const detailed = isObject(options);
    const once = detailed && Boolean(options.once);
    const passive = detailed && Boolean(options.passive);
    const signal = detailed ? options.signal : undefined;
    if (signal !== undefined && !isAbortSignal(signal)) throw new TypeError('The "options.signal" property must be an AbortSignal');
    if (listener === null || listener === undefined) return;
    if (!isObject(listener)) throw new TypeError('The "listener" argument must be a function or an object');
    if (signal !== undefined && isAborted(signal)) return;
    if (this.#find(name, listener, capture) !== -1) return;
    const entry = { __proto__: null, type: name, listener, capture, once, passive, removed: false, remove: () => { this.#remove(entry); } };
    push(this.#listeners, entry);
    if (signal !== undefined) onAbort(signal, entry.remove);
  }

  removeEventListener(type, listener, options = undefined) {
    requireArguments(arguments, 2, 'removeEventListener');
    const at = this.#find(toText(type), listener, captureOption(options));
    if (at !== -1) this.#remove(this.#listeners[at]);
  }

  dispatchEvent(event) {
    if (!isEvent(event)) throw new TypeError('The "event" argument must be an instance of Event');
    return EventTarget.#dispatch(this, event);
  }

  #find(type, listener, capture) {
    const all = this.#listeners;
    for (let i = 0; i < all.length; i++) {
      if (all[i].type === type && all[i].listener === listener && all[i].capture === capture) return i;
    }
    return -1;
  }
  #remove(entry) {
    if (entry.removed) return;
    entry.removed = true;
    listRemove(this.#listeners, listIndexOf(this.#listeners, entry));
  }
  static #dispatch(target, event) {
    const all = target.#listeners;
    const called = newList();
    for (let i = 0; i < all.length; i++) if (all[i].type === eventType(event)) push(called, all[i]);
    return dispatchTo(event, target, called);
  }
  static dispatch(target, event) { return EventTarget.#dispatch(target, event); }
}
const { dispatch: dispatchEventTo } = EventTarget;
delete EventTarget.dispatch;
publish(EventTarget);

const eventType = uncurryGetter(Event.prototype, 'type');
const captureOption = (options) => Boolean(isObject(options) ? options.capture : options);
function requireArguments(given, count, name) {
  if (given.length < count) throw new TypeError(name + ' requires ' + count + ' argument' + (count === 1 ? '' : 's') + ', got ' + given.length);
}
