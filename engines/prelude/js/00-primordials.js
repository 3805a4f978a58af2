// THREAT[T-GUEST-001]: a program may replace any built-in to forge its outcome or lose its output.
// Primordials: everything of the language that the prelude uses, taken before a guest can touch it.
//
// The rules for every fragment that follows:
// - A name such as `TypeError` or `Map` is the constant below, never a look-up on the global object.
// - A method of a built-in is called through its uncurried constant: `slice(text, 0, 2)`, not `text.slice(0, 2)`.
// - A list that stays inside is made by `newList()`. It has no prototype, so no setter on `Array.prototype` sees it.
// - A record that stays inside, and every property descriptor, has `__proto__: null`.
// - An async function returns what it awaited: to return a promise as it is asks the guest's `then`.
// - Nothing is iterated by protocol unless a specification says that the guest's own iterator is to be asked.
// - There are no template literals: QuickJS compiles one to a call of `String.prototype.concat`, which a guest can replace.

const {
  AggregateError, Array, ArrayBuffer, BigInt, BigInt64Array, BigUint64Array, Boolean, DataView, Date, Error, EvalError,
  Float32Array, Float64Array, Function, Int16Array, Int32Array, Int8Array, JSON, Map, Math, Number, Object, Promise,
  Proxy, RangeError, ReferenceError, Reflect, RegExp, Set, String, Symbol, SyntaxError, TypeError, URIError, Uint16Array,
  Uint32Array, Uint8Array, Uint8ClampedArray, WeakMap, WeakRef, WeakSet,
} = globalThis;
const { apply, construct, defineProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys } = Reflect;
const { create, freeze, is: sameValue, setPrototypeOf } = Object;
const { isArray } = Array;
const { isInteger, isNaN, isFinite, MAX_SAFE_INTEGER } = Number;
const { parseFloat, parseInt } = globalThis;
const { abs, ceil, floor, max, min, round, sign: signOf, sqrt, trunc } = Math;
const { parse: jsonParse, stringify: jsonStringify } = JSON;
const { fromCharCode, fromCodePoint } = String;
const { iterator: symbolIterator, asyncIterator: symbolAsyncIterator, toStringTag: symbolToStringTag } = Symbol;
const { isView } = ArrayBuffer;

/** ToString of the language, without the exception that `String(symbol)` makes. */
const toText = (value) => {
  if (typeof value === 'symbol') throw new TypeError('Cannot convert a Symbol value to a string');
  return String(value);
};

/** Turns a method into a function that takes `this` as its first argument. */
const uncurry = Function.prototype.bind.bind(Function.prototype.call);
/** The same for the getter of an accessor property. */
const uncurryGetter = (holder, key) => uncurry(getOwnPropertyDescriptor(holder, key).get);

const ObjectPrototype = Object.prototype;
const ErrorPrototype = Error.prototype;
const TypedArray = getPrototypeOf(Uint8Array);
const TypedArrayPrototype = TypedArray.prototype;

const charCodeAt = uncurry(String.prototype.charCodeAt);
const codePointAt = uncurry(String.prototype.codePointAt);
const endsWith = uncurry(String.prototype.endsWith);
const indexOf = uncurry(String.prototype.indexOf);
const lastIndexOf = uncurry(String.prototype.lastIndexOf);
const normalize = uncurry(String.prototype.normalize);
const padEnd = uncurry(String.prototype.padEnd);
const padStart = uncurry(String.prototype.padStart);
const repeat = uncurry(String.prototype.repeat);
const slice = uncurry(String.prototype.slice);
const startsWith = uncurry(String.prototype.startsWith);
const toLowerCase = uncurry(String.prototype.toLowerCase);
const toUpperCase = uncurry(String.prototype.toUpperCase);
const toWellFormed = uncurry(String.prototype.toWellFormed);
const trim = uncurry(String.prototype.trim);
const trimEnd = uncurry(String.prototype.trimEnd);
const includes = (text, part) => indexOf(text, part) !== -1;

const arraySlice = uncurry(Array.prototype.slice);
const arraySort = uncurry(Array.prototype.sort);

const numberToFixed = uncurry(Number.prototype.toFixed);
const numberToString = uncurry(Number.prototype.toString);
const numberValueOf = uncurry(Number.prototype.valueOf);
const stringValueOf = uncurry(String.prototype.valueOf);
const booleanValueOf = uncurry(Boolean.prototype.valueOf);
const bigintValueOf = uncurry(BigInt.prototype.valueOf);
const symbolValueOf = uncurry(Symbol.prototype.valueOf);
const symbolText = uncurry(Symbol.prototype.toString);
const functionText = uncurry(Function.prototype.toString);
const objectText = uncurry(Object.prototype.toString);
const hasOwn = uncurry(Object.prototype.hasOwnProperty);
const isEnumerable = uncurry(Object.prototype.propertyIsEnumerable);
const isPrototypeOf = uncurry(Object.prototype.isPrototypeOf);
const hasInstance = uncurry(Function.prototype[Symbol.hasInstance]);

const dateTime = uncurry(Date.prototype.getTime);
const dateISO = uncurry(Date.prototype.toISOString);

const mapGet = uncurry(Map.prototype.get);
const mapSet = uncurry(Map.prototype.set);
const mapHas = uncurry(Map.prototype.has);
const mapDelete = uncurry(Map.prototype.delete);
const mapEntries = uncurry(Map.prototype.entries);
const mapNext = uncurry(getPrototypeOf(new Map().entries()).next);
const mapSize = uncurryGetter(Map.prototype, 'size');
const setAdd = uncurry(Set.prototype.add);
const setHas = uncurry(Set.prototype.has);
const setValues = uncurry(Set.prototype.values);
const setNext = uncurry(getPrototypeOf(new Set().values()).next);
const setSize = uncurryGetter(Set.prototype, 'size');
const weakMapGet = uncurry(WeakMap.prototype.get);
const weakMapSet = uncurry(WeakMap.prototype.set);
const weakMapHas = uncurry(WeakMap.prototype.has);
const weakSetHas = uncurry(WeakSet.prototype.has);

const promiseThen = uncurry(Promise.prototype.then);

const typedTag = uncurryGetter(TypedArrayPrototype, Symbol.toStringTag);
const typedLength = uncurryGetter(TypedArrayPrototype, 'length');
const typedBuffer = uncurryGetter(TypedArrayPrototype, 'buffer');
const typedByteLength = uncurryGetter(TypedArrayPrototype, 'byteLength');
const typedByteOffset = uncurryGetter(TypedArrayPrototype, 'byteOffset');
const typedSet = uncurry(TypedArrayPrototype.set);
const bufferByteLength = uncurryGetter(ArrayBuffer.prototype, 'byteLength');
const viewBuffer = uncurryGetter(DataView.prototype, 'buffer');
const viewByteLength = uncurryGetter(DataView.prototype, 'byteLength');
const viewByteOffset = uncurryGetter(DataView.prototype, 'byteOffset');

const regExpSource = uncurryGetter(RegExp.prototype, 'source');
const regExpFlagGetters = (() => {
  const names = [['d', 'hasIndices'], ['g', 'global'], ['i', 'ignoreCase'], ['m', 'multiline'], ['s', 'dotAll'],
    ['u', 'unicode'], ['v', 'unicodeSets'], ['y', 'sticky']];
  const getters = setPrototypeOf([], null);
  for (let i = 0; i < names.length; i++) {
    if (names[i][1] in RegExp.prototype) {
      getters[getters.length] = { __proto__: null, flag: names[i][0], read: uncurryGetter(RegExp.prototype, names[i][1]) };
    }
  }
  return getters;
})();
/** The flags of a real regular expression, whatever the guest did to `RegExp.prototype`. */
const regExpFlags = (value) => {
  let flags = '';
  for (let i = 0; i < regExpFlagGetters.length; i++) {
    if (regExpFlagGetters[i].read(value)) flags += regExpFlagGetters[i].flag;
  }
  return flags;
};

/** A list for inside use. Index writes on it cannot be intercepted. */
const newList = () => setPrototypeOf([], null);
const push = (list, value) => { list[list.length] = value; };
/** An ordinary array, for the guest, with the elements of an inside list. */
const toArray = (list) => arraySlice(list);
const join = (list, separator) => {
  let text = '';
  for (let i = 0; i < list.length; i++) text += i === 0 ? list[i] : separator + list[i];
  return text;
};
const listIndexOf = (list, value) => {
  for (let i = 0; i < list.length; i++) if (list[i] === value) return i;
  return -1;
};
const listRemove = (list, index) => {
  for (let i = index; i < list.length - 1; i++) list[i] = list[i + 1];
  list.length -= 1;
};
/** Splits on a plain separator. `String.prototype.split` would ask the separator for `Symbol.split`. */
const split = (text, separator) => {
  const parts = newList();
  let from = 0;
  for (;;) {
    const at = indexOf(text, separator, from);
    if (at === -1) break;
    push(parts, slice(text, from, at));
    from = at + separator.length;
  }
  push(parts, slice(text, from));
  return parts;
};
const replaceAll = (text, part, other) => (includes(text, part) ? join(split(text, part), other) : text);

/** Own, non-enumerable, writable and configurable: how the platform defines what it gives. */
const defineHidden = (holder, key, value) =>
  defineProperty(holder, key, { __proto__: null, value, writable: true, enumerable: false, configurable: true });
const defineVisible = (holder, key, value) =>
  defineProperty(holder, key, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
const defineGlobal = (name, value) => {
  if (!defineHidden(globalThis, name, value)) throw new TypeError('Cannot define the global ' + name);
};

/** Gives a class the looks of a WebIDL interface: enumerable members and a `Symbol.toStringTag`. */
const dress = (Class, tag) => {
  const holders = [Class, Class.prototype];
  for (let h = 0; h < 2; h++) {
    const keys = ownKeys(holders[h]);
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i];
      if (typeof key === 'symbol' || key === 'constructor' || key === 'prototype' || key === 'name' || key === 'length') continue;
      const descriptor = getOwnPropertyDescriptor(holders[h], key);
      descriptor.enumerable = true;
      defineProperty(holders[h], key, descriptor);
    }
  }
  defineProperty(Class.prototype, symbolToStringTag,
    { __proto__: null, value: tag ?? Class.name, writable: false, enumerable: false, configurable: true });
};
const publish = (Class, name = Class.name) => {
  dress(Class, name);
  defineGlobal(name, Class);
};

const isObject = (value) => (typeof value === 'object' ? value !== null : typeof value === 'function');

const NO_BYTES = new Uint8Array(0);
/** A view of the bytes of an `ArrayBuffer`, typed array or `DataView`; undefined for anything else. */
const bytesView = (source) => {
  if (isView(source)) {
    return typedTag(source) === undefined
      ? new Uint8Array(viewBuffer(source), viewByteOffset(source), viewByteLength(source))
      : new Uint8Array(typedBuffer(source), typedByteOffset(source), typedByteLength(source));
  }
  return isArrayBuffer(source) ? new Uint8Array(source) : undefined;
};
const isArrayBuffer = (value) => {
  if (typeof value !== 'object' || value === null) return false;
  try {
    bufferByteLength(value);
    return true;
  } catch {
    return false;
  }
};
/** The bytes `from..to` in a buffer of their own. */
const copyBytes = (bytes, from = 0, to = typedLength(bytes)) =>
  new Uint8Array(new Uint8Array(typedBuffer(bytes), typedByteOffset(bytes) + from, to - from));
const concatBytes = (chunks) => {
  let total = 0;
  for (let i = 0; i < chunks.length; i++) total += typedLength(chunks[i]);
  const all = new Uint8Array(total);
  let at = 0;
  for (let i = 0; i < chunks.length; i++) {
    typedSet(all, chunks[i], at);
    at += typedLength(chunks[i]);
  }
  return all;
};

const resolved = (value) => new Promise((resolve) => { resolve(value); });
const rejected = (reason) => new Promise((_, reject) => { reject(reason); });

// What the engine gives. Held in constants, so that no object with these functions lives on.
const {
  output: nativeOutput, tool: nativeTool, ask: nativeAsk, payloadMax: nativePayloadMax, spaceName: nativeSpaceName, findSpace: nativeFindSpace, readBody: nativeReadBody,
  setTimer: nativeSetTimer, clearTimer: nativeClearTimer,
  now: nativeNow, startedAt: nativeStartedAt, randomFill: nativeRandomFill, utf8Encode: nativeUtf8Encode, plainUrl: nativePlainUrl, get: nativeGet,
  utf8Decode: nativeUtf8Decode, digest: nativeDigest, hmac: nativeHmac, promiseState: nativePromiseState,
  proxyTarget: nativeProxyTarget,
} = native;

// QuickJS hands every frame's function to `Error.prepareStackTrace`, those in here included. Without this accessor a guest
// can still assign the property, but nothing asks it.
{
  const hook = getOwnPropertyDescriptor(Error, 'prepareStackTrace');
  if (hook !== undefined && hook.set !== undefined) delete Error.prepareStackTrace;
}

delete globalThis.Atomics;
delete globalThis.SharedArrayBuffer;
delete globalThis.WebAssembly;
delete globalThis.navigator;
