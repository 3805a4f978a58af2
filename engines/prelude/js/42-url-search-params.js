// URLSearchParams, and the form encoding that bodies use too.

const IteratorPrototype = getPrototypeOf(getPrototypeOf([][symbolIterator]()));

/** Iterators over a live list of pairs, of the class that the platform would name `<name> Iterator`. */
function pairIterators(name) {
  const states = new WeakMap();
  const prototype = create(IteratorPrototype);
  defineVisible(prototype, 'next', {
    next() {
      const state = isObject(this) ? weakMapGet(states, this) : undefined;
      if (state === undefined) throw new TypeError('next was called on an object that is not a ' + name + ' Iterator');
      const pairs = state.pairs();
      if (state.at >= pairs.length) return { value: undefined, done: true };
      const pair = pairs[state.at];
      state.at += 1;
      return { value: state.kind === 'key' ? pair[0] : state.kind === 'value' ? pair[1] : [pair[0], pair[1]], done: false };
    },
  }.next);
  defineProperty(prototype, symbolToStringTag, { __proto__: null, value: name + ' Iterator', writable: false, enumerable: false, configurable: true });
  return (pairs, kind) => {
    const iterator = create(prototype);
    weakMapSet(states, iterator, { __proto__: null, pairs, kind, at: 0 });
    return iterator;
  };
}

function parseForm(text) {
  const pairs = newList();
  const parts = split(text, '&');
  for (let i = 0; i < parts.length; i++) {
    if (parts[i] === '') continue;
    const equals = indexOf(parts[i], '=');
    const name = equals === -1 ? parts[i] : slice(parts[i], 0, equals);
    push(pairs, [decodeFormPart(name), decodeFormPart(equals === -1 ? '' : slice(parts[i], equals + 1))]);
  }
  return pairs;
}
const decodeFormPart = (text) => {
  const spaced = replaceAll(text, '+', ' ');
  return includes(spaced, '%') ? nativeUtf8Decode(percentDecode(spaced), false) : spaced;
};
const encodeFormPart = (text) => replaceAll(percentEncode(text, ENCODE_FORM), '%20', '+');
function serializeForm(pairs) {
  let text = '';
  for (let i = 0; i < pairs.length; i++) text += '' + (i === 0 ? '' : '&') + encodeFormPart(pairs[i][0]) + '=' + encodeFormPart(pairs[i][1]);
  return text;
}

/** Pairs out of a guest's sequence of sequences or record, as WebIDL reads them. */
function readPairs(init, convert, what) {
  const pairs = newList();
  const iterate = init[symbolIterator];
  if (iterate !== undefined && iterate !== null) {
    if (typeof iterate !== 'function') throw new TypeError(what + ': the init object is not iterable');
    for (const entry of init) {
      if (!isObject(entry) || typeof entry[symbolIterator] !== 'function') throw new TypeError(what + ': each pair must be an iterable [name, value] tuple');
      const pair = newList();
      for (const part of entry) push(pair, convert(part));
      if (pair.length !== 2) throw new TypeError(what + ': each pair must be an iterable [name, value] tuple');
      push(pairs, [pair[0], pair[1]]);
    }
    return pairs;
  }
  const keys = ownKeys(init);
  for (let i = 0; i < keys.length; i++) {
    const descriptor = getOwnPropertyDescriptor(init, keys[i]);
    if (descriptor === undefined || !descriptor.enumerable) continue;
    if (typeof keys[i] === 'symbol') throw new TypeError('Cannot convert a Symbol value to a string');
    push(pairs, [convert(keys[i]), convert(init[keys[i]])]);
  }
  return pairs;
}

const makeParamsIterator = pairIterators('URLSearchParams');

class URLSearchParams {
  #pairs = newList();
  #changed = undefined; // tells the URL, when the parameters belong to one

  constructor(init = undefined) {
    if (init === undefined || init === null) return;
    if (isObject(init)) {
      const plainCopy = #pairs in init && init[symbolIterator] === paramsEntries;
      this.#pairs = plainCopy ? URLSearchParams.#copy(init.#pairs) : readPairs(init, wellFormed, 'URLSearchParams');
    } else {
      const text = wellFormed(init);
      this.#pairs = parseForm(text[0] === '?' ? slice(text, 1) : text);
    }
  }

  get size() { return this.#pairs.length; }

  append(name, value) {
    requireArguments(arguments, 2, 'append');
    push(this.#pairs, [wellFormed(name), wellFormed(value)]);
    this.#notify();
  }
  delete(name, value = undefined) {
    requireArguments(arguments, 1, 'delete');
    const key = wellFormed(name);
    const wanted = value === undefined ? undefined : wellFormed(value);
    const kept = newList();
    for (let i = 0; i < this.#pairs.length; i++) {
      const pair = this.#pairs[i];
      if (pair[0] !== key || (wanted !== undefined && pair[1] !== wanted)) push(kept, pair);
    }
    this.#pairs = kept;
    this.#notify();
  }
  get(name) {
    requireArguments(arguments, 1, 'get');
    const key = wellFormed(name);
    for (let i = 0; i < this.#pairs.length; i++) if (this.#pairs[i][0] === key) return this.#pairs[i][1];
    return null;
  }
  getAll(name) {
    requireArguments(arguments, 1, 'getAll');
    const key = wellFormed(name);
    const found = newList();
    for (let i = 0; i < this.#pairs.length; i++) if (this.#pairs[i][0] === key) push(found, this.#pairs[i][1]);
    return toArray(found);
  }
  has(name, value = undefined) {
    requireArguments(arguments, 1, 'has');
    const key = wellFormed(name);
    const wanted = value === undefined ? undefined : wellFormed(value);
    for (let i = 0; i < this.#pairs.length; i++) {
      if (this.#pairs[i][0] === key && (wanted === undefined || this.#pairs[i][1] === wanted)) return true;
    }
    return false;
  }
  set(name, value) {
    requireArguments(arguments, 2, 'set');
    const key = wellFormed(name);
    const text = wellFormed(value);
    const kept = newList();
    let found = false;
    for (let i = 0; i < this.#pairs.length; i++) {
      if (this.#pairs[i][0] !== key) push(kept, this.#pairs[i]);
      else if (!found) {
        push(kept, [key, text]);
        found = true;
      }
    }
    if (!found) push(kept, [key, text]);
    this.#pairs = kept;
    this.#notify();
  }
  sort() {
    arraySort(this.#pairs, (a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0));
    this.#notify();
  }
  forEach(callback, thisArgument = undefined) {
    requireFunction(callback, 'callback');
    for (let i = 0; i < this.#pairs.length; i++) apply(callback, thisArgument, [this.#pairs[i][1], this.#pairs[i][0], this]);
  }
  entries() { return makeParamsIterator(() => this.#pairs, (this.#pairs, 'entry')); }
  keys() { return makeParamsIterator(() => this.#pairs, (this.#pairs, 'key')); }
  values() { return makeParamsIterator(() => this.#pairs, (this.#pairs, 'value')); }
  toString() { return serializeForm(this.#pairs); }

  #notify() { if (this.#changed !== undefined) this.#changed(serializeForm(this.#pairs)); }

  static #copy(pairs) {
    const copy = newList();
    for (let i = 0; i < pairs.length; i++) push(copy, [pairs[i][0], pairs[i][1]]);
    return copy;
  }
  static inside() {
    return {
      isOne: (value) => isObject(value) && #pairs in value,
      pairsOf: (params) => params.#pairs,
      replace: (params, query) => { params.#pairs = parseForm(query); },
      link: (params, changed) => { params.#changed = changed; },
    };
  }
}
const { isOne: isSearchParams, pairsOf: searchPairs, replace: replaceSearchPairs, link: linkSearchParams } = URLSearchParams.inside();
delete URLSearchParams.inside;
const paramsEntries = URLSearchParams.prototype.entries;
defineHidden(URLSearchParams.prototype, symbolIterator, paramsEntries);
publish(URLSearchParams);
showAs(URLSearchParams, (params) => ({ pairs: searchPairs(params) }));
