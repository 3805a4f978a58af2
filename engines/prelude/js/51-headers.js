// Headers: names and values of HTTP fields, checked, combined and sorted as Fetch says.

const NO_TOKEN = /[^!#$%&'*+\-.^_\x60|~0-9A-Za-z]/;
const isToken = (text) => text !== '' && !matches(NO_TOKEN, text);

const BEYOND_BYTES = /[^\0-\xff]/;
/** A text whose code units fit in bytes; anything else is a TypeError. */
function byteString(value, what) {
  const text = toText(value);
  const found = regExpExec(BEYOND_BYTES, text);
  if (found !== null) throw new TypeError(what + ' has a character beyond U+00FF at index ' + found.index);
  return text;
}

const UNUSUAL_VALUE = /^[\t\n\r ]|[\0\n\r]|[\t\n\r ]$/;
const isHttpSpace = (unit) => unit === 32 || unit === 9 || unit === 10 || unit === 13;
function headerValue(value, what) {
  const text = byteString(value, what);
  if (!matches(UNUSUAL_VALUE, text)) return text;
  let from = 0;
  let to = text.length;
  while (from < to && isHttpSpace(charCodeAt(text, from))) from += 1;
  while (to > from && isHttpSpace(charCodeAt(text, to - 1))) to -= 1;
  for (let i = from; i < to; i++) {
    const unit = charCodeAt(text, i);
    if (unit === 0 || unit === 10 || unit === 13) throw new TypeError(what + ': "' + escapeControls(text) + '" is an invalid header value.');
  }
  return slice(text, from, to);
}
function headerName(name, what) {
  const text = byteString(name, what);
  if (!isToken(text)) throw new TypeError(what + ': "' + escapeControls(text) + '" is an invalid header name.');
  return toLowerCase(text);
}

const makeHeadersIterator = pairIterators('Headers');

class Headers {
  #fields = newList(); // [lower-case name, value], one for each that was appended
  #immutable = false;

  constructor(init = undefined) {
    if (init === undefined) return;
    if (!isObject(init)) throw new TypeError("Headers constructor: init given is not one of 'sequence<sequence<ByteString>>, record<ByteString, ByteString>'.");
    if (#fields in init && init[symbolIterator] === headersEntries) this.#fields = Headers.#copy(init.#fields);
    else {
      const pairs = readPairs(init, (part) => byteString(part, 'Headers constructor'), 'Headers constructor');
      for (let i = 0; i < pairs.length; i++) this.#append(pairs[i][0], pairs[i][1], 'Headers.append');
    }
  }

  append(name, value) {
    requireArguments(arguments, 2, 'Headers.append');
    this.#append(name, value, 'Headers.append');
  }
  delete(name) {
    requireArguments(arguments, 1, 'Headers.delete');
    const key = headerName(name, 'Headers.delete');
    this.#change();
    this.#remove(key);
  }
  get(name) {
    requireArguments(arguments, 1, 'Headers.get');
    return Headers.#combined(this.#fields, headerName(name, 'Headers.get'));
  }
  getSetCookie() {
    const values = newList();
    for (let i = 0; i < this.#fields.length; i++) if (this.#fields[i][0] === 'set-cookie') push(values, this.#fields[i][1]);
    return toArray(values);
  }
  has(name) {
    requireArguments(arguments, 1, 'Headers.has');
    return Headers.#combined(this.#fields, headerName(name, 'Headers.has')) !== null;
  }
  set(name, value) {
    requireArguments(arguments, 2, 'Headers.set');
    const key = headerName(name, 'Headers.set');
    const text = headerValue(value, 'Headers.set');
    this.#change();
    for (let i = 0; i < this.#fields.length; i++) {
      if (this.#fields[i][0] !== key) continue;
      this.#fields[i] = [key, text];
      for (let j = this.#fields.length - 1; j > i; j--) if (this.#fields[j][0] === key) listRemove(this.#fields, j);
      return;
    }
    push(this.#fields, [key, text]);
  }
  forEach(callback, thisArgument = undefined) {
    requireFunction(callback, 'callback');
    for (let i = 0; ; i++) {
      const pairs = Headers.#sorted(this.#fields);
      if (i >= pairs.length) return;
      apply(callback, thisArgument, [pairs[i][1], pairs[i][0], this]);
    }
  }
  entries() { return makeHeadersIterator(() => Headers.#sorted(this.#fields), (this.#fields, 'entry')); }
  keys() { return makeHeadersIterator(() => Headers.#sorted(this.#fields), (this.#fields, 'key')); }
  values() { return makeHeadersIterator(() => Headers.#sorted(this.#fields), (this.#fields, 'value')); }

  #append(name, value, what) {
    const key = headerName(name, what);
    const text = headerValue(value, what);
    this.#change();
    push(this.#fields, [key, text]);
  }
  #change() { if (this.#immutable) throw new TypeError('The headers are immutable'); }
  #remove(key) {
    for (let i = this.#fields.length - 1; i >= 0; i--) if (this.#fields[i][0] === key) listRemove(this.#fields, i);
  }
  static #copy(fields) {
    const copy = newList();
    for (let i = 0; i < fields.length; i++) push(copy, fields[i]);
    return copy;
  }
  static #combined(fields, key) {
    let text = null;
    for (let i = 0; i < fields.length; i++) if (fields[i][0] === key) text = text === null ? fields[i][1] : '' + text + (key === 'cookie' ? '; ' : ', ') + fields[i][1];
    return text;
  }
  /** By name, values combined; only `set-cookie` keeps one entry for each value. */
  static #sorted(fields) {
    const pairs = newList();
    const done = new Set();
    for (let i = 0; i < fields.length; i++) {
      const key = fields[i][0];
      if (key === 'set-cookie') push(pairs, fields[i]);
      else if (!setHas(done, key)) {
        setAdd(done, key);
        push(pairs, [key, Headers.#combined(fields, key)]);
      }
    }
    return arraySort(pairs, (a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0));
  }
  static inside() {
    return {
      sorted: (headers) => Headers.#sorted(headers.#fields),
      get: (headers, key) => Headers.#combined(headers.#fields, key),
      add: (headers, key, value) => { push(headers.#fields, [key, value]); },
      copy: (headers) => {
        const made = new Headers();
        made.#fields = Headers.#copy(headers.#fields);
        made.#immutable = headers.#immutable;
        return made;
      },
      freeze: (headers) => { headers.#immutable = true; },
    };
  }
}
const { sorted: sortedHeaders, get: getHeader, add: addHeader, copy: copyHeaders, freeze: freezeHeaders } = Headers.inside();
delete Headers.inside;
const headersEntries = Headers.prototype.entries;
defineHidden(Headers.prototype, symbolIterator, headersEntries);
publish(Headers);
showAs(Headers, (headers) => {
  const pairs = sortedHeaders(headers);
  const fields = {};
  for (let i = 0; i < pairs.length; i++) {
    const earlier = dataOf(getOwnPropertyDescriptor(fields, pairs[i][0]));
    defineVisible(fields, pairs[i][0], earlier === undefined ? pairs[i][1] : earlier + ', ' + pairs[i][1]);
  }
  return { fields };
});
