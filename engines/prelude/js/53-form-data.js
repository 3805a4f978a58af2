// FormData, and its two encodings as a body.

const makeFormIterator = pairIterators('FormData');

class FormData {
  #entries = newList();

  constructor(form = undefined) {
    if (form !== undefined) throw new TypeError('FormData constructor: there are no form elements here');
  }

  append(name, value, filename = undefined) {
    requireArguments(arguments, 2, 'FormData.append');
    push(this.#entries, formEntry(name, value, filename, arguments.length > 2));
  }
  delete(name) {
    requireArguments(arguments, 1, 'FormData.delete');
    const key = wellFormed(name);
    for (let i = this.#entries.length - 1; i >= 0; i--) if (this.#entries[i][0] === key) listRemove(this.#entries, i);
  }
  get(name) {
    requireArguments(arguments, 1, 'FormData.get');
    const key = wellFormed(name);
    for (let i = 0; i < this.#entries.length; i++) if (this.#entries[i][0] === key) return this.#entries[i][1];
    return null;
  }
  getAll(name) {
    requireArguments(arguments, 1, 'FormData.getAll');
    const key = wellFormed(name);
    const found = newList();
    for (let i = 0; i < this.#entries.length; i++) if (this.#entries[i][0] === key) push(found, this.#entries[i][1]);
    return toArray(found);
  }
  has(name) {
    requireArguments(arguments, 1, 'FormData.has');
    const key = wellFormed(name);
    for (let i = 0; i < this.#entries.length; i++) if (this.#entries[i][0] === key) return true;
    return false;
  }
  set(name, value, filename = undefined) {
    requireArguments(arguments, 2, 'FormData.set');
    const entry = formEntry(name, value, filename, arguments.length > 2);
    const kept = newList();
    let placed = false;
    for (let i = 0; i < this.#entries.length; i++) {
      if (this.#entries[i][0] !== entry[0]) push(kept, this.#entries[i]);
      else if (!placed) {
        push(kept, entry);
        placed = true;
      }
    }
    if (!placed) push(kept, entry);
    this.#entries = kept;
  }
  forEach(callback, thisArgument = undefined) {
    requireFunction(callback, 'callback');
    for (let i = 0; i < this.#entries.length; i++) apply(callback, thisArgument, [this.#entries[i][1], this.#entries[i][0], this]);
  }
  entries() { return makeFormIterator(() => this.#entries, (this.#entries, 'entry')); }
  keys() { return makeFormIterator(() => this.#entries, (this.#entries, 'key')); }
  values() { return makeFormIterator(() => this.#entries, (this.#entries, 'value')); }

  static inside() {
    return {
      isOne: (value) => isObject(value) && #entries in value,
      entriesOf: (form) => form.#entries,
      make: (entries) => {
        const form = new FormData();
        form.#entries = entries;
        return form;
      },
    };
  }
}
const { isOne: isFormData, entriesOf: formEntries, make: makeFormData } = FormData.inside();
delete FormData.inside;
defineHidden(FormData.prototype, symbolIterator, FormData.prototype.entries);
publish(FormData);
showAs(FormData, (form) => {
  const entries = formEntries(form);
  const fields = {};
  for (let i = 0; i < entries.length; i++) {
    const earlier = dataOf(getOwnPropertyDescriptor(fields, entries[i][0]));
    if (earlier === undefined) defineVisible(fields, entries[i][0], entries[i][1]);
    else if (isArray(earlier)) defineVisible(earlier, earlier.length, entries[i][1]);
    else defineVisible(fields, entries[i][0], [earlier, entries[i][1]]);
  }
  return { fields };
});

function formEntry(name, value, filename, named) {
  const key = wellFormed(name);
  if (!isBlob(value)) {
    if (named) throw new TypeError('FormData: a file name is only for a Blob');
    return [key, wellFormed(value)];
  }
  if (isFile(value) && !named) return [key, value];
  const label = named ? wellFormed(filename) : 'blob';
  return [key, makeFile(weakMapGet(blobBytes, value), label, blobTypeOf(value), isFile(value) ? fileModified(value) : undefined)];
}

const escapeFormName = (name) => replaceAll(replaceAll(replaceAll(name, '\n', '%0A'), '\r', '%0D'), '"', '%22');
const formLineEndings = (text) => replaceAll(nativeLineEndings(text), '\n', '\r\n');

/** Where there is no chance, a boundary that the content can no more hold than its own digest. */
function formDigest(entries) {
  const chunks = newList();
  for (let i = 0; i < entries.length; i++) push(chunks, typeof entries[i][1] === 'string' ? encodeUtf8(entries[i][1]) : weakMapGet(blobBytes, entries[i][1]));
  return nativeDigest('SHA-256', concatBytes(chunks));
}

/** `{ bytes, type }` of a multipart body with a fresh boundary. */
function encodeMultipart(form) {
  const entries = formEntries(form);
  let random = new Uint8Array(12);
  if (!nativeRandomFill(random)) random = formDigest(entries);
  let boundary = '----formdata-isolith-0';
  for (let i = 0; i < 12; i++) boundary += padStart(numberToString(random[i], 16), 2, '0');
  const chunks = newList();
  for (let i = 0; i < entries.length; i++) {
    const value = entries[i][1];
    const head = '--' + boundary + '\r\nContent-Disposition: form-data; name="' + escapeFormName(formLineEndings(entries[i][0])) + '"';
    if (typeof value === 'string') push(chunks, encodeUtf8(head + '\r\n\r\n' + formLineEndings(value) + '\r\n'));
    else {
      const type = blobTypeOf(value) === '' ? 'application/octet-stream' : blobTypeOf(value);
      push(chunks, encodeUtf8(head + '; filename="' + escapeFormName(fileName(value)) + '"\r\nContent-Type: ' + type + '\r\n\r\n'));
      push(chunks, weakMapGet(blobBytes, value));
      push(chunks, encodeUtf8('\r\n'));
    }
  }
  push(chunks, encodeUtf8('--' + boundary + '--\r\n'));
  return { __proto__: null, bytes: concatBytes(chunks), type: 'multipart/form-data; boundary=' + boundary };
}

function indexOfBytes(bytes, wanted, from) {
  const last = typedLength(bytes) - typedLength(wanted);
  const length = typedLength(wanted);
  for (let i = from; i <= last; i++) {
    let j = 0;
    while (j < length && bytes[i + j] === wanted[j]) j += 1;
    if (j === length) return i;
  }
  return -1;
}

/** A parameter of a header value, with or without quotes; undefined when it is not there. */
function headerParameter(value, name) {
  let at = indexOf(value, ';');
  while (at !== -1) {
    at += 1;
    while (at < value.length && isHttpSpace(charCodeAt(value, at))) at += 1;
    let end = at;
    while (end < value.length && value[end] !== '=' && value[end] !== ';') end += 1;
    const key = toLowerCase(slice(value, at, end));
    let content = '';
    if (value[end] === '=') {
      end += 1;
      if (value[end] === '"') {
        for (end += 1; end < value.length && value[end] !== '"'; end++) {
          if (value[end] === '\\' && end + 1 < value.length) end += 1;
          content += value[end];
        }
        end += 1;
      } else {
        const from = end;
        while (end < value.length && value[end] !== ';') end += 1;
        content = trimAscii(slice(value, from, end));
      }
    }
    if (key === name) return content;
    at = indexOf(value, ';', end);
  }
  return undefined;
}

/** The form of a multipart body; throws TypeError when it is malformed. */
function decodeMultipart(bytes, boundary) {
  const malformed = () => new TypeError('Could not parse content as FormData.');
  const entries = newList();
  const delimiter = encodeUtf8('--' + boundary);
  const headersEnd = encodeUtf8('\r\n\r\n');
  const partEnd = encodeUtf8('\r\n--' + boundary);
  let at = indexOfBytes(bytes, delimiter, 0);
  if (at === -1) throw malformed();
  at += typedLength(delimiter);
  for (;;) {
    if (bytes[at] === 45 && bytes[at + 1] === 45) return makeFormData(entries);
    if (bytes[at] !== 13 || bytes[at + 1] !== 10) throw malformed();
    const end = indexOfBytes(bytes, headersEnd, at);
    if (end === -1) throw malformed();
    const lines = split(nativeUtf8Decode(copyBytes(bytes, at, end), false), '\r\n');
    let disposition;
    let type = 'text/plain';
    for (let i = 0; i < lines.length; i++) {
      const colon = indexOf(lines[i], ':');
      const name = toLowerCase(trimAscii(slice(lines[i], 0, max(0, colon))));
      const value = trimAscii(slice(lines[i], colon + 1));
      if (name === 'content-disposition') disposition = value;
      if (name === 'content-type') type = value;
    }
    const name = disposition !== undefined && startsWith(toLowerCase(disposition), 'form-data') ? headerParameter(disposition, 'name') : undefined;
    const close = indexOfBytes(bytes, partEnd, end + 2);
    if (name === undefined || close === -1) throw malformed();
    const content = copyBytes(bytes, min(end + 4, close), close);
    const filename = headerParameter(disposition, 'filename');
    push(entries, [unescapeFormName(name), filename === undefined
      ? decodeUtf8(content) : makeFile(content, unescapeFormName(filename), type, undefined)]);
    at = close + typedLength(partEnd);
  }
}
const unescapeFormName = (name) => replaceAll(replaceAll(replaceAll(name, '%0A', '\n'), '%0D', '\r'), '%22', '"');
