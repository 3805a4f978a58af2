// structuredClone: a deep copy of data, with cycles, that refuses what is not data.

const nativeTransfer = typeof ArrayBuffer.prototype.transfer === 'function' ? uncurry(ArrayBuffer.prototype.transfer) : undefined;
const isDetachedBuffer = 'detached' in ArrayBuffer.prototype ? uncurryGetter(ArrayBuffer.prototype, 'detached') : () => false;
const viewClasses = { __proto__: null, Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array,
  Float16Array: globalThis.Float16Array, Float32Array, Float64Array, BigInt64Array, BigUint64Array };
const cloneableErrors = { __proto__: null, Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };
/** Blobs, files and exceptions of the prelude: prototype to a function that copies. */
const cloneableClasses = new Map();
/** Prototypes of what is no data, besides the classes that are shown in a way of their own. */
const uncloneable = new Set();
const refuseClones = (prototype) => { setAdd(uncloneable, prototype); };
refuseClones(WeakRef.prototype);
refuseClones(IteratorPrototype);

const notCloneable = (value) => {
  let text;
  if (typeof value === 'symbol') text = symbolText(value);
  else if (typeof value === 'function') text = functionText(value);
  else text = '#<' + (quietly(() => constructorName(inspectContext(), value, 0), 'Object') ?? 'Object') + '>';
  return new DOMException(text + ' could not be cloned.', 'DataCloneError');
};

function cloneValue(value, seen) {
  if (!isObject(value)) {
    if (typeof value === 'symbol') throw notCloneable(value);
    return value;
  }
  if (mapHas(seen, value)) return mapGet(seen, value);
  if (typeof value === 'function' || nativeProxyTarget(value) !== undefined) throw notCloneable(value);
  const kind = kindOf(value);
  const clone = cloneOf[kind];
  if (clone === undefined) throw notCloneable(value);
  return clone(value, seen);
}

const remember = (seen, value, copy) => {
  mapSet(seen, value, copy);
  return copy;
};
const cloneBoxed = (unbox) => (value, seen) => remember(seen, value, Object(unbox(value)));

const cloneOf = {
  __proto__: null,
  Object(value, seen) {
    for (let holder = value, i = 0; holder !== null && i < PROTOTYPES_MAX; holder = getPrototypeOf(holder), i++) {
      const copyOwn = mapGet(cloneableClasses, holder);
      if (copyOwn !== undefined) return remember(seen, value, copyOwn(value));
      if (mapHas(shownClasses, holder) || setHas(uncloneable, holder)) throw notCloneable(value);
    }
    const copy = remember(seen, value, {});
    return cloneProperties(value, copy, seen);
  },
  Array(value, seen) {
    const copy = remember(seen, value, []);
    copy.length = value.length;
    return cloneProperties(value, copy, seen);
  },
  Boolean: cloneBoxed(booleanValueOf),
  Number: cloneBoxed(numberValueOf),
  String: cloneBoxed(stringValueOf),
  BigInt: cloneBoxed(bigintValueOf),
  Date: (value, seen) => remember(seen, value, new Date(dateTime(value))),
  RegExp: (value, seen) => remember(seen, value, new RegExp(regExpSource(value), regExpFlags(value))),
  ArrayBuffer(value, seen) {
    if (isDetachedBuffer(value)) throw new DOMException('An ArrayBuffer is detached and could not be cloned.', 'DataCloneError');
    return remember(seen, value, typedBuffer(copyBytes(new Uint8Array(value))));
  },
  TypedArray(value, seen) {
    const tag = typedTag(value);
    const buffer = cloneValue(typedBuffer(value), seen);
    return remember(seen, value, new viewClasses[tag](buffer, typedByteOffset(value), typedLength(value)));
  },
  DataView(value, seen) {
    const buffer = cloneValue(viewBuffer(value), seen);
    return remember(seen, value, new DataView(buffer, viewByteOffset(value), viewByteLength(value)));
  },
  Map(value, seen) {
    const copy = remember(seen, value, new Map());
    const pairs = newList();
    const iterator = mapEntries(value);
    for (let step = mapNext(iterator); !step.done; step = mapNext(iterator)) push(pairs, step.value);
    for (let i = 0; i < pairs.length; i++) mapSet(copy, cloneValue(pairs[i][0], seen), cloneValue(pairs[i][1], seen));
    return copy;
  },
  Set(value, seen) {
    const copy = remember(seen, value, new Set());
    const members = newList();
    const iterator = setValues(value);
    for (let step = setNext(iterator); !step.done; step = setNext(iterator)) push(members, step.value);
    for (let i = 0; i < members.length; i++) setAdd(copy, cloneValue(members[i], seen));
    return copy;
  },
  Error: cloneError,
};

function cloneProperties(value, copy, seen) {
  const keys = ownKeys(value);
  for (let i = 0; i < keys.length; i++) {
    if (typeof keys[i] === 'symbol' || !isEnumerable(value, keys[i])) continue;
    defineVisible(copy, keys[i], cloneValue(value[keys[i]], seen));
  }
  return copy;
}

function cloneError(value, seen) {
  for (let holder = value, i = 0; holder !== null && i < PROTOTYPES_MAX; holder = getPrototypeOf(holder), i++) {
    const copyOwn = mapGet(cloneableClasses, holder);
    if (copyOwn !== undefined) return remember(seen, value, copyOwn(value));
  }
  const { name } = value;
  const Class = cloneableErrors[typeof name === 'symbol' ? '' : toText(name)] ?? Error;
  const message = dataOf(getOwnPropertyDescriptor(value, 'message'));
  const copy = remember(seen, value, message === undefined ? new Class() : new Class(toText(message)));
  const stack = readQuietly(value, 'stack');
  if (typeof stack === 'string') defineHidden(copy, 'stack', stack);
  if (hasOwn(value, 'cause')) defineHidden(copy, 'cause', cloneValue(value.cause, seen));
  return copy;
}

mapSet(cloneableClasses, DOMException.prototype, (value) => new DOMException(value.message, value.name));

function readTransferList(options) {
  const transfer = newList();
  const given = isObject(options) ? options.transfer : undefined;
  if (given === undefined) return transfer;
  for (const item of given) {
    if (listIndexOf(transfer, item) !== -1) throw new DOMException('A transfer list has the same object twice.', 'DataCloneError');
    if (!isArrayBuffer(item) || isDetachedBuffer(item)) {
      if (!isObject(item)) throw new TypeError('The transfer list must hold objects');
      throw new DOMException('Value could not be transferred.', 'DataCloneError');
    }
    push(transfer, item);
  }
  return transfer;
}

defineGlobal('structuredClone', {
  structuredClone(value, options = undefined) {
    requireArguments(arguments, 1, 'structuredClone');
    const transfer = readTransferList(options);
    const copy = cloneValue(value, new Map());
    // The copy already has the bytes; what is left of a transfer is that the source loses them.
    if (nativeTransfer !== undefined) for (let i = 0; i < transfer.length; i++) nativeTransfer(transfer[i]);
    return copy;
  },
}.structuredClone);
