// What the library uses of the language, taken before a workflow can touch it.
//
// A workflow may replace any method of any prototype. That must not renumber its calls or change what the host records, so
// the rules in here are those of the engine's prelude: methods are called through the functions below, lists that stay inside
// come from `newList()`, records from `__proto__: null`, loops count, and texts are put together with `+` (QuickJS compiles a
// template literal to a call of `String.prototype.concat`).

export const { Array, BigInt, Date, Error, Function, JSON, Map, Math, Number, Object, Promise, Proxy, RangeError, Reflect, RegExp, Set, String, Symbol, TypeError, WeakMap } = globalThis;
export const { apply, construct, defineProperty, deleteProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys } = Reflect;
export const { freeze, setPrototypeOf, is: sameValue, keys: objectKeys } = Object;
export const { isArray } = Array;
export const { isFinite, isInteger, isSafeInteger } = Number;
export const { floor, max, min, abs } = Math;
export const { parse: jsonParse, stringify: jsonStringify } = JSON;
export const NativeURL = globalThis.URL;

/** Turns a method into a function that takes `this` as its first argument. */
export const uncurry = Function.prototype.bind.bind(Function.prototype.call);

export const slice = uncurry(String.prototype.slice);
export const indexOf = uncurry(String.prototype.indexOf);
export const trim = uncurry(String.prototype.trim);
export const trimEnd = uncurry(String.prototype.trimEnd);
export const startsWith = uncurry(String.prototype.startsWith);
export const endsWith = uncurry(String.prototype.endsWith);
export const toLowerCase = uncurry(String.prototype.toLowerCase);
export const toUpperCase = uncurry(String.prototype.toUpperCase);
export const normalize = uncurry(String.prototype.normalize);
export const hasOwn = uncurry(Object.prototype.hasOwnProperty);
export const isEnumerable = uncurry(Object.prototype.propertyIsEnumerable);
export const regExpExec = uncurry(RegExp.prototype.exec);
export const regExpSource = uncurry(getOwnPropertyDescriptor(RegExp.prototype, 'source').get);
export const regExpFlags = uncurry(getOwnPropertyDescriptor(RegExp.prototype, 'flags').get);
export const dateTime = uncurry(Date.prototype.getTime);
export const dateISO = uncurry(Date.prototype.toISOString);
export const numberText = uncurry(Number.prototype.toString);
export const bigintText = uncurry(BigInt.prototype.toString);
export const weakGet = uncurry(WeakMap.prototype.get);
export const weakSet = uncurry(WeakMap.prototype.set);
export const weakHas = uncurry(WeakMap.prototype.has);
export const promiseThen = uncurry(Promise.prototype.then);
const arraySlice = uncurry(Array.prototype.slice);

export const isObject = (value) => (typeof value === 'object' ? value !== null : typeof value === 'function');

/** A list for inside use: no setter on `Array.prototype` sees what is put into it. */
export const newList = () => setPrototypeOf([], null);
export const push = (list, value) => { list[list.length] = value; };
/** An ordinary array for the workflow. Its elements are defined, not assigned. */
export const toArray = (list) => arraySlice(list);
export const includes = (list, value) => {
  for (let i = 0; i < list.length; i++) if (list[i] === value) return true;
  return false;
};
export const join = (list, separator) => {
  let text = '';
  for (let i = 0; i < list.length; i++) text += i === 0 ? list[i] : separator + list[i];
  return text;
};
/** Copies own enumerable fields of `from` that are not undefined. */
export const copyFields = (to, from) => {
  const keys = objectKeys(from);
  for (let i = 0; i < keys.length; i++) if (from[keys[i]] !== undefined) setField(to, keys[i], from[keys[i]]);
  return to;
};
/** The fields of an object of options that are its own: what lies on prototypes is not said by the call. */
export const ownFields = (from) => copyFields({ __proto__: null }, from);
/** Defines a field as a literal would; a field named `__proto__` is one like any other. */
export const setField = (holder, key, value) => {
  defineProperty(holder, key, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
};
export const setHidden = (holder, key, value) =>
  defineProperty(holder, key, { __proto__: null, value, writable: true, enumerable: false, configurable: true });

/** `String(value)` for anything, also for what refuses to be text. */
export const showText = (value) => {
  try {
    return String(value);
  } catch {
    return 'a value that has no text';
  }
};

/** Freezes what JSON can hold, all the way down. */
export const deepFreeze = (value) => {
  if (!isObject(value)) return value;
  const keys = ownKeys(value);
  for (let i = 0; i < keys.length; i++) deepFreeze(value[keys[i]]);
  return freeze(value);
};
/** A copy as JSON holds it; nothing is null. */
export const jsonCopy = (value) => (value === undefined || value === null ? null : jsonParse(jsonStringify(value) ?? 'null'));

/** The same data without prototypes: no `toJSON` that a workflow puts on one has a say in what is sent. */
export const detached = (value) => {
  if (typeof value !== 'object' || value === null) return value;
  const isList = isArray(value);
  const copy = isList ? newList() : { __proto__: null };
  const keys = isList ? undefined : objectKeys(value);
  const count = isList ? value.length : keys.length;
  for (let i = 0; i < count; i++) {
    if (isList) push(copy, detached(value[i]));
    else setField(copy, keys[i], detached(value[keys[i]]));
  }
  return copy;
};
