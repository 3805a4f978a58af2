// Inspection: any value as text, in the layout that Node's `util.inspect` made familiar.
//
// The work is bounded (nodes, depth, length), accessors are shown and not called, proxies are seen through without
// asking their traps, and a value that throws while it is looked at becomes a short note instead of an exception.

const INSPECT_NODES_MAX = 20_000;
const INSPECT_CHARS_MAX = 256 << 10;
/** Deeper than this nothing is opened, also when the caller asks for an unlimited depth: the engine's stack is small. */
const INSPECT_DEPTH_MAX = 64;
const PROTOTYPES_MAX = 100;
const PROXIES_MAX = 100;
const CLASS_NAME_MAX = 256;

const customInspect = Symbol.for('nodejs.util.inspect.custom');
const [AsyncFunctionPrototype, GeneratorFunctionPrototype, AsyncGeneratorFunctionPrototype] =
  [getPrototypeOf(async () => {}), getPrototypeOf(function* () {}), getPrototypeOf(async function* () {})];

/** How the prelude's own classes are shown: prototype to a function that gives `{ fields }`, `{ pairs }` or `{ text }`. */
const shownClasses = new Map();
const showAs = (Class, show) => { mapSet(shownClasses, Class.prototype, show); };

const INSPECT_DEFAULTS = freeze({
  __proto__: null, depth: 2, showHidden: false, showProxy: false, customInspect: true, maxArrayLength: 100,
  maxStringLength: 10_000, breakLength: 80, compact: 3, sorted: false, getters: false,
});

/** The text of `value`; never throws and always ends. `options` are a guest's and may be anything. */
function inspect(value, options) {
  const context = inspectContext(options);
  return clip(showValue(context, value, 0));
}

function inspectContext(options) {
  const context = { __proto__: null };
  const names = ownKeys(INSPECT_DEFAULTS);
  for (let i = 0; i < names.length; i++) {
    const given = isObject(options) ? readQuietly(options, names[i]) : undefined;
    context[names[i]] = given === undefined ? INSPECT_DEFAULTS[names[i]] : given;
  }
  context.depth = limitOption(context.depth, INSPECT_DEPTH_MAX);
  context.maxArrayLength = limitOption(context.maxArrayLength, INSPECT_NODES_MAX);
  context.maxStringLength = limitOption(context.maxStringLength, INSPECT_CHARS_MAX);
  context.breakLength = typeof context.breakLength === 'number' && !isNaN(context.breakLength) ? context.breakLength : 80;
  if (typeof context.compact !== 'number') context.compact = context.compact === false ? 0 : 3;
  context.open = newList();
  context.circular = undefined;
  context.deepest = 0;
  context.indentation = 0;
  context.nodes = 0;
  context.chars = 0;
  return context;
}

/** `null` and `Infinity` ask for everything, which here means the bound. */
function limitOption(given, most) {
  if (given === null) return most;
  return typeof given === 'number' && !isNaN(given) ? min(given, most) : most;
}

const clip = (text) => (text.length > INSPECT_CHARS_MAX ? slice(text, 0, INSPECT_CHARS_MAX) + '...' : text);
const exhausted = (context) => context.nodes > INSPECT_NODES_MAX || context.chars > INSPECT_CHARS_MAX;
const plural = (count, noun) => count + ' ' + noun + (count > 1 ? 's' : '');

/** Reads a property of a guest's object; a getter or trap that throws reads as undefined. */
function readQuietly(holder, key) {
  try {
    return holder[key];
  } catch {
    return undefined;
  }
}

/** The next object of the prototype chain, with proxies replaced by their targets. Null at the end. */
function prototypeOf(object) {
  const prototype = getPrototypeOf(object);
  return prototype === null ? null : behindProxy(prototype);
}

/** What a proxy stands for (null when revoked), or the value itself. */
function behindProxy(value) {
  let current = value;
  for (let i = 0; i < PROXIES_MAX; i++) {
    const target = nativeProxyTarget(current);
    if (target === undefined) return current;
    if (target === null) return null;
    current = target;
  }
  return null;
}

function findDescriptor(object, key) {
  let holder = object;
  for (let i = 0; holder !== null && i < PROTOTYPES_MAX; i++) {
    const descriptor = getOwnPropertyDescriptor(holder, key);
    if (descriptor !== undefined) return descriptor;
    holder = prototypeOf(holder);
  }
  return undefined;
}
const dataOf = (descriptor) =>
  (descriptor !== undefined && hasOwn(descriptor, 'value') ? descriptor.value : undefined);

function showValue(context, value, level, insideTyped = false) {
  if (exhausted(context)) return '...';
  context.nodes += 1;
  if (!isObject(value)) {
    const text = showPrimitive(context, value);
    context.chars += text.length;
    return text;
  }
  const indentation = context.indentation;
  const opened = context.open.length;
  try {
    return showObject(context, value, level, insideTyped);
  } catch {
    context.indentation = indentation;
    context.open.length = opened;
    return '[Object: inspection failed]';
  }
}

function showObject(context, given, level, insideTyped) {
  let value = given;
  if (nativeProxyTarget(given) !== undefined) {
    value = behindProxy(given);
    if (value === null) return '<Revoked Proxy>';
    if (context.showProxy) {
      return level > context.depth ? 'Proxy [Array]' : 'Proxy [ ' + showValue(context, value, level + 1) + ' ]';
    }
  }
  if (listIndexOf(context.open, value) !== -1) return showCircular(context, value);
  if (context.customInspect) {
    const text = showCustom(context, given, value, level);
    if (text !== undefined) return text;
  }
  const own = showOwnClass(context, value, level);
  return own === undefined ? showRaw(context, value, level, insideTyped) : own;
}

function showCircular(context, value) {
  if (context.circular === undefined) context.circular = new Map();
  let index = mapGet(context.circular, value);
  if (index === undefined) {
    index = mapSize(context.circular) + 1;
    mapSet(context.circular, value, index);
  }
  return '[Circular *' + index + ']';
}

const indentLines = (text, width) => (width === 0 ? text : replaceAll(text, '\n', '\n' + repeat(' ', width)));

/** The guest's own `[Symbol.for('nodejs.util.inspect.custom')]`, as Node calls it. */
function showCustom(context, given, value, level) {
  const custom = dataOf(findDescriptor(value, customInspect));
  if (typeof custom !== 'function') return undefined;
  const options = { depth: context.depth - level, showHidden: context.showHidden, breakLength: context.breakLength,
    compact: context.compact, stylize: (text) => toText(text) };
  push(context.open, value);
  const result = apply(custom, given, [context.depth - level, options, (other, more) => inspect(other, more ?? options)]);
  context.open.length -= 1;
  if (result === given) return undefined;
  if (isObject(result)) return showValue(context, result, level);
  const text = indentLines(toText(typeof result === 'symbol' ? symbolText(result) : result), context.indentation);
  context.chars += text.length;
  return text;
}

/** Objects of the prelude's classes show their public fields. */
function showOwnClass(context, value, level) {
  let show;
  let holder = prototypeOf(value);
  for (let i = 0; holder !== null && i < PROTOTYPES_MAX && show === undefined; i++) {
    show = mapGet(shownClasses, holder);
    holder = prototypeOf(holder);
  }
  if (show === undefined) return undefined;
  let shown;
  try {
    shown = show(value);
  } catch {
    return undefined; // the prototype itself, or an object that only looks like one of ours
  }
  const name = constructorName(context, value, level) ?? 'Object';
  if (level > context.depth) return '[' + name + ']';
  if (shown.fields !== undefined) addOwnFields(shown.fields, value);
  const { indentation, deepest } = context;
  context.indentation = 0;
  push(context.open, value);
  const text = shown.pairs === undefined
    ? showValue(context, shown.fields, level)
    : showPairs(context, shown.pairs, level);
  context.open.length -= 1;
  context.indentation = indentation;
  context.deepest = max(deepest, level);
  return name + ' ' + indentLines(text, indentation);
}

/** What a guest's subclass put on the object itself. */
function addOwnFields(fields, value) {
  const keys = ownKeys(value);
  for (let i = 0; i < keys.length && i < INSPECT_NODES_MAX; i++) {
    if (isEnumerable(value, keys[i])) defineProperty(fields, keys[i], getOwnPropertyDescriptor(value, keys[i]));
  }
}

function showPairs(context, pairs, level) {
  if (pairs.length === 0) return '{}';
  const parts = newList();
  for (let i = 0; i < pairs.length && !exhausted(context); i++) {
    push(parts, showValue(context, pairs[i][0], level) + ' => ' + showValue(context, pairs[i][1], level));
  }
  context.deepest = level + 1;
  return layOut(context, parts, '', '{', '}', false, level + 1, undefined);
}

/** `Foo`, `Foo <Bar>` for an unnamed link of the chain, or null for an object without prototype. */
function constructorName(context, object, level) {
  let holder = object;
  let first;
  for (let i = 0; holder !== null && i < PROTOTYPES_MAX; i++) {
    const Class = dataOf(getOwnPropertyDescriptor(holder, 'constructor'));
    if (typeof Class === 'function') {
      const name = functionName(Class);
      if (name !== '' && isInstance(object, Class)) return slice(name, 0, CLASS_NAME_MAX);
    }
    holder = prototypeOf(holder);
    if (first === undefined) first = holder;
  }
  if (first === null || first === undefined) return null;
  if (level > context.depth) return 'Object <Complex prototype>';
  const inner = constructorName(context, first, level + 1);
  return inner === null ? 'Object <[Object: null prototype] {}>' : 'Object <' + inner + '>';
}

function isInstance(object, Class) {
  try {
    return hasInstance(Class, object);
  } catch {
    return false;
  }
}

function functionName(fn) {
  const name = dataOf(findDescriptor(behindProxy(fn) ?? fn, 'name'));
  return typeof name === 'string' ? name : '';
}

/** `Symbol.toStringTag` when it says something that the properties do not show anyway. */
function tagOf(context, value) {
  const descriptor = findDescriptor(value, symbolToStringTag);
  if (descriptor === undefined) return '';
  const tag = hasOwn(descriptor, 'value') ? descriptor.value : readQuietly(value, symbolToStringTag);
  if (typeof tag !== 'string' || tag === '') return '';
  if (context.showHidden ? hasOwn(value, symbolToStringTag) : isEnumerable(value, symbolToStringTag)) return '';
  return tag;
}

function prefixOf(constructor, tag, fallback, size = '') {
  const extra = (other) => (tag !== '' && tag !== other ? ' [' + tag + ']' : '');
  if (constructor === null) return '[' + fallback + size + ': null prototype]' + extra(fallback) + ' ';
  return '' + constructor + size + extra(constructor) + ' ';
}

/** The keys to show: enumerable ones, or all with `showHidden`; without array indices when `skipIndices`. */
function shownKeys(context, value, skipIndices) {
  const keys = newList();
  const all = ownKeys(value);
  for (let i = 0; i < all.length; i++) {
    const key = all[i];
    if (skipIndices && typeof key === 'string' && isIndexKey(key)) continue;
    if (context.showHidden || isEnumerable(value, key)) push(keys, key);
    if (keys.length > INSPECT_NODES_MAX) break;
  }
  return keys;
}

function isIndexKey(key) {
  const length = key.length;
  if (length === 0 || length > 10 || (length > 1 && key[0] === '0')) return false;
  for (let i = 0; i < length; i++) {
    const unit = charCodeAt(key, i);
    if (unit < 48 || unit > 57) return false;
  }
  return +key < 4294967295;
}

function showRaw(context, value, level, insideTyped) {
  const kind = kindOf(value);
  const constructor = constructorName(context, value, level);
  const tag = tagOf(context, value);
  const arrayLike = kind === 'Array' || kind === 'TypedArray';
  const keys = shownKeys(context, value, arrayLike || kind === 'String');
  // What differs from kind to kind: the text before the braces, the braces, and the entries that are not properties.
  const form = { __proto__: null, base: '', open: '{', close: '}', entries: undefined, whenEmpty: undefined,
    extraKeys: undefined, groups: false };
  describe[kind](form, { __proto__: null, context, value, constructor, tag, keys, level, insideTyped });
  if (keys.length === 0 && form.whenEmpty !== undefined) return form.whenEmpty;
  if (level > context.depth) {
    if (form.base !== '' && kind === 'RegExp') return form.base;
    const name = slice(prefixOf(constructor, tag, kind === 'Array' ? 'Array' : 'Object'), 0, -1);
    return constructor === null ? name : '[' + name + ']';
  }

  const inner = level + 1;
  push(context.open, value);
  context.deepest = inner;
  const parts = form.entries === undefined ? newList() : form.entries(inner);
  if (form.extraKeys !== undefined) {
    for (let i = 0; i < form.extraKeys.length; i++) {
      context.indentation += 2;
      push(parts, form.extraKeys[i].name + ': ' + showValue(context, form.extraKeys[i].value, inner));
      context.indentation -= 2;
    }
  }
  for (let i = 0; i < keys.length; i++) {
    if (exhausted(context)) {
      push(parts, '...');
      break;
    }
    push(parts, showProperty(context, value, keys[i], inner));
  }
  context.open.length -= 1;
  const index = context.circular === undefined ? undefined : mapGet(context.circular, value);
  if (index !== undefined) form.base = form.base === '' ? '<ref *' + index + '>' : '<ref *' + index + '> ' + form.base;
  if (context.sorted && !arrayLike) arraySort(parts);
  return layOut(context, parts, form.base, form.open, form.close, form.groups, inner, value);
}

function showProperty(context, holder, key, level) {
  const descriptor = getOwnPropertyDescriptor(holder, key);
  const content = showContent(context, descriptor, level);
  let name;
  if (typeof key === 'symbol') name = '[' + escapeControls(symbolText(key)) + ']';
  else if (key === '__proto__') name = "['__proto__']";
  else if (descriptor !== undefined && !descriptor.enumerable) name = '[' + escapeControls(key) + ']';
  else name = isPlainKey(key) ? key : quote(key);
  context.chars += name.length;
  return name + ': ' + content;
}

/** The value of one property; an accessor is named, not called. */
function showContent(context, descriptor, level) {
  if (descriptor === undefined) return 'undefined';
  if (hasOwn(descriptor, 'value')) {
    context.indentation += 2;
    const text = showValue(context, descriptor.value, level);
    context.indentation -= 2;
    return text;
  }
  context.nodes += 1;
  if (descriptor.get !== undefined) return descriptor.set === undefined ? '[Getter]' : '[Getter/Setter]';
  return descriptor.set === undefined ? 'undefined' : '[Setter]';
}

function isPlainKey(key) {
  for (let i = 0; i < key.length; i++) {
    const unit = charCodeAt(key, i);
    const letter = (unit >= 97 && unit <= 122) || (unit >= 65 && unit <= 90) || unit === 95;
    if (!letter && !(i > 0 && unit >= 48 && unit <= 57)) return false;
  }
  return key.length > 0;
}
