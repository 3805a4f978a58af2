// Inspection, the kinds: what an object is, whatever its properties claim, and what each kind shows.

const throwsNot = (probe) => (value) => {
  try {
    probe(value);
    return true;
  } catch {
    return false;
  }
};
const noKey = freeze({ __proto__: null });
/** Tests of internal slots, which a guest cannot imitate or take away. */
const brands = {
  __proto__: null,
  Map: throwsNot(mapSize),
  Set: throwsNot(setSize),
  WeakMap: throwsNot((value) => weakMapHas(value, noKey)),
  WeakSet: throwsNot((value) => weakSetHas(value, noKey)),
  Date: throwsNot(dateTime),
  RegExp: throwsNot((value) => { if (value === RegExp.prototype) throw value; regExpSource(value); }),
  ArrayBuffer: throwsNot(bufferByteLength),
  DataView: throwsNot(viewByteLength),
  Number: throwsNot(numberValueOf),
  String: throwsNot(stringValueOf),
  Boolean: throwsNot(booleanValueOf),
  BigInt: throwsNot(bigintValueOf),
  Symbol: throwsNot(symbolValueOf),
};
const brandNames = freeze(ownKeys(brands));
const kindOfPrototype = new Map();
for (let i = 0; i < brandNames.length; i++) mapSet(kindOfPrototype, globalThis[brandNames[i]].prototype, brandNames[i]);
mapSet(kindOfPrototype, ErrorPrototype, 'Error');

/** Names the kind of an object that is not a proxy. Brands are tested only where the prototype chain suggests one. */
function kindOf(value) {
  if (typeof value === 'function') return 'Function';
  if (isArray(value)) return 'Array';
  if (typedTag(value) !== undefined) return 'TypedArray';
  let holder = prototypeOf(value);
  if (holder === ObjectPrototype) return plainKind(value);
  if (nativePromiseState(value) !== undefined) return 'Promise';
  let ordinary = false;
  for (let i = 0; holder !== null && i < PROTOTYPES_MAX; i++) {
    const kind = mapGet(kindOfPrototype, holder);
    if (kind === 'Error' || (kind !== undefined && brands[kind](value))) return kind;
    ordinary ||= holder === ObjectPrototype;
    holder = prototypeOf(holder);
  }
  if (ordinary) return 'Object';
  for (let i = 0; i < brandNames.length; i++) if (brands[brandNames[i]](value)) return brandNames[i];
  return plainKind(value);
}

function plainKind(value) {
  if (dataOf(getOwnPropertyDescriptor(value, symbolToStringTag)) === 'Module') return 'Module';
  const text = findDescriptor(value, symbolToStringTag) === undefined ? objectText(value) : '';
  if (text === '[object Error]') return 'Error';
  return text === '[object Arguments]' ? 'Arguments' : 'Object';
}

const withPrefix = (fallback) => (form, it) => { form.open = prefixOf(it.constructor, it.tag, fallback) + '{'; };
const boxed = (type, unbox) => (form, it) => {
  let base = '[' + type;
  if (type !== it.constructor) base += it.constructor === null ? ' (null prototype)' : ' (' + it.constructor + ')';
  base += ': ' + showPrimitive(it.context, unbox(it.value)) + ']';
  if (it.tag !== '' && it.tag !== it.constructor) base += ' [' + it.tag + ']';
  form.base = base;
  form.whenEmpty = base;
};
const weakCollection = (name) => (form, it) => {
  withPrefix(name)(form, it);
  form.entries = () => oneEntry('<items unknown>');
};
const oneEntry = (text) => {
  const parts = newList();
  push(parts, text);
  return parts;
};

/** One function per kind; it fills in the form that `showRaw` lays out. */
const describe = {
  __proto__: null,
  Object(form, it) {
    if (it.constructor !== 'Object' || it.tag !== '') withPrefix('Object')(form, it);
    form.whenEmpty = form.open + '}';
  },
  Module(form, it) {
    form.open = prefixOf(it.constructor, it.tag, 'Module') + '{';
    form.whenEmpty = form.open + '}';
  },
  Arguments(form) {
    form.open = '[Arguments] {';
    form.whenEmpty = '[Arguments] {}';
  },
  Array(form, it) {
    const prefix = it.constructor === 'Array' && it.tag === '' ? '' : prefixOf(it.constructor, it.tag, 'Array', '(' + it.value.length + ')');
    form.open = prefix + '[';
    form.close = ']';
    form.groups = true;
    if (it.value.length === 0) form.whenEmpty = form.open + ']';
    form.entries = (level) => arrayEntries(it.context, it.value, level);
  },
  TypedArray(form, it) {
    const length = typedLength(it.value);
    form.open = prefixOf(it.constructor, it.tag, typedTag(it.value), '(' + length + ')') + '[';
    form.close = ']';
    form.groups = true;
    if (length === 0 && !it.context.showHidden) form.whenEmpty = form.open + ']';
    form.entries = (level) => typedEntries(it.context, it.value, length, level);
  },
  Set(form, it) {
    const size = setSize(it.value);
    const prefix = prefixOf(it.constructor, it.tag, 'Set', '(' + size + ')');
    form.open = prefix + '{';
    if (size === 0) form.whenEmpty = prefix + '{}';
    form.entries = (level) => collectionEntries(it.context, size, setValues(it.value), setNext,
      (value) => showValue(it.context, value, level));
  },
  Map(form, it) {
    const size = mapSize(it.value);
    const prefix = prefixOf(it.constructor, it.tag, 'Map', '(' + size + ')');
    form.open = prefix + '{';
    if (size === 0) form.whenEmpty = prefix + '{}';
    form.entries = (level) => collectionEntries(it.context, size, mapEntries(it.value), mapNext,
      (pair) => showValue(it.context, pair[0], level) + ' => ' + showValue(it.context, pair[1], level));
  },
  Function(form, it) {
    form.base = describeFunction(it.value, it.constructor, it.tag);
    form.whenEmpty = form.base;
  },
  RegExp(form, it) {
    const prefix = prefixOf(it.constructor, it.tag, 'RegExp');
    form.base = (prefix === 'RegExp ' ? '' : prefix) + '/' + regExpSource(it.value) + '/' + regExpFlags(it.value);
    form.whenEmpty = form.base;
  },
  Date(form, it) {
    const prefix = prefixOf(it.constructor, it.tag, 'Date');
    form.base = '' + (prefix === 'Date ' ? '' : prefix) + (isNaN(dateTime(it.value)) ? 'Invalid Date' : dateISO(it.value));
    form.whenEmpty = form.base;
  },
  Error(form, it) {
    form.base = describeError(it.context, it.value, it.constructor, it.tag, it.keys);
    form.whenEmpty = form.base;
  },
  ArrayBuffer(form, it) {
    withPrefix('ArrayBuffer')(form, it);
    const bytes = new Uint8Array(it.value);
    form.extraKeys = [{ name: 'byteLength', value: typedLength(bytes) }];
    if (!it.insideTyped) form.entries = () => oneEntry('[Uint8Contents]: <' + hexBytes(bytes, it.context.maxArrayLength) + '>');
  },
  DataView(form, it) {
    withPrefix('DataView')(form, it);
    form.extraKeys = [{ name: 'byteLength', value: viewByteLength(it.value) },
      { name: 'byteOffset', value: viewByteOffset(it.value) }, { name: 'buffer', value: viewBuffer(it.value) }];
  },
  Promise(form, it) {
    withPrefix('Promise')(form, it);
    form.entries = (level) => {
      const state = nativePromiseState(it.value);
      if (state[0] === 0) return oneEntry('<pending>');
      it.context.indentation += 2;
      const text = showValue(it.context, state[1], level);
      it.context.indentation -= 2;
      return oneEntry(state[0] === 2 ? '<rejected> ' + text : text);
    };
  },
  WeakMap: weakCollection('WeakMap'),
  WeakSet: weakCollection('WeakSet'),
  Number: boxed('Number', numberValueOf),
  String: boxed('String', stringValueOf),
  Boolean: boxed('Boolean', booleanValueOf),
  BigInt: boxed('BigInt', bigintValueOf),
  Symbol: boxed('Symbol', symbolValueOf),
};

/** Elements, with runs of holes told as such. */
function arrayEntries(context, array, level) {
  const parts = newList();
  const { length } = array;
  const most = min(max(0, context.maxArrayLength), length);
  let at = 0;
  let sparse; // own indices, looked up only once a hole is met: a sparse array may claim billions of elements
  while (at < length && parts.length < most && !exhausted(context)) {
    const descriptor = getOwnPropertyDescriptor(array, at);
    if (descriptor !== undefined) {
      push(parts, showContent(context, descriptor, level));
      at += 1;
      continue;
    }
    sparse ??= ownIndices(array);
    while (sparse.next < sparse.list.length && sparse.list[sparse.next] < at) sparse.next += 1;
    const until = sparse.next < sparse.list.length ? sparse.list[sparse.next] : length;
    push(parts, '<' + plural(until - at, 'empty item') + '>');
    at = until;
  }
  if (at < length) push(parts, exhausted(context) ? '...' : '... ' + plural(length - at, 'more item'));
  return parts;
}

function ownIndices(array) {
  const list = newList();
  const keys = ownKeys(array);
  for (let i = 0; i < keys.length; i++) if (typeof keys[i] === 'string' && isIndexKey(keys[i])) push(list, +keys[i]);
  return { __proto__: null, list, next: 0 };
}

function typedEntries(context, array, length, level) {
  const parts = newList();
  const most = min(max(0, context.maxArrayLength), length);
  for (let i = 0; i < most && !exhausted(context); i++) push(parts, showValue(context, array[i], level));
  if (length > most) push(parts, '... ' + plural(length - most, 'more item'));
  if (context.showHidden) {
    const hidden = [['BYTES_PER_ELEMENT', length === 0 ? undefined : typedByteLength(array) / length], ['length', length],
      ['byteLength', typedByteLength(array)], ['byteOffset', typedByteOffset(array)], ['buffer', typedBuffer(array)]];
    context.indentation += 2;
    for (let i = 0; i < hidden.length; i++) {
      push(parts, '[' + hidden[i][0] + ']: ' + showValue(context, hidden[i][1], level, true));
    }
    context.indentation -= 2;
  }
  return parts;
}

function collectionEntries(context, size, iterator, next, show) {
  const parts = newList();
  const most = min(max(0, context.maxArrayLength), size);
  context.indentation += 2;
  for (let i = 0; i < most && !exhausted(context); i++) push(parts, show(next(iterator).value));
  if (size > most) push(parts, '... ' + plural(size - most, 'more item'));
  context.indentation -= 2;
  return parts;
}

function hexBytes(bytes, most) {
  const length = typedLength(bytes);
  const shown = min(max(0, most), length);
  let text = '';
  for (let i = 0; i < shown; i++) text += '' + (i === 0 ? '' : ' ') + padStart(numberToString(bytes[i], 16), 2, '0');
  return length > shown ? text + ' ... ' + plural(length - shown, 'more byte') : text;
}

function describeFunction(fn, constructor, tag) {
  const source = functionText(fn);
  if (startsWith(source, 'class') && endsWith(source, '}') && !isPlainKey(slice(source, 0, 6))) {
    return describeClass(fn, constructor, tag);
  }
  let type = 'Function';
  for (let holder = getPrototypeOf(fn), i = 0; holder !== null && i < PROTOTYPES_MAX; holder = prototypeOf(holder), i++) {
    if (holder === AsyncFunctionPrototype) type = 'AsyncFunction';
    else if (holder === GeneratorFunctionPrototype) type = 'GeneratorFunction';
    else if (holder === AsyncGeneratorFunctionPrototype) type = 'AsyncGeneratorFunction';
  }
  const name = functionName(fn);
  let base = '[' + type + (constructor === null ? ' (null prototype)' : '') + (name === '' ? ' (anonymous)' : ': ' + name) + ']';
  if (constructor !== type && constructor !== null) base += ' ' + constructor;
  if (tag !== '' && constructor !== tag) base += ' [' + tag + ']';
  return base;
}

function describeClass(fn, constructor, tag) {
  const own = dataOf(getOwnPropertyDescriptor(fn, 'name'));
  let base = 'class ' + (typeof own === 'string' && own !== '' ? own : '(anonymous)');
  if (constructor !== 'Function' && constructor !== null) base += ' [' + constructor + ']';
  if (tag !== '' && constructor !== tag) base += ' [' + tag + ']';
  if (constructor === null) return '[' + base + ' extends [null prototype]]';
  const parent = functionName(getPrototypeOf(fn));
  return parent === '' ? '[' + base + ']' : '[' + base + ' extends ' + parent + ']';
}
