// Blob and File: immutable bytes with a type.

const blobBytes = new WeakMap(); // the bytes, for the other body types

function blobType(type) {
  const text = toText(type);
  for (let i = 0; i < text.length; i++) {
    const unit = charCodeAt(text, i);
    if (unit < 0x20 || unit > 0x7e) return '';
  }
  return toLowerCase(text);
}

function nativeLineEndings(text) {
  return replaceAll(replaceAll(text, '\r\n', '\n'), '\r', '\n');
}

class Blob {
  #bytes;
  #type;

  constructor(parts = undefined, options = undefined) {
    const chunks = newList();
    if (parts !== undefined) {
      if (!isObject(parts) || typeof parts[symbolIterator] !== 'function') throw new TypeError('The "sources" argument must be a sequence');
      const endings = options?.endings === undefined ? 'transparent' : toText(options.endings);
      if (endings !== 'transparent' && endings !== 'native') throw new TypeError('"' + endings + '" is not a line ending');
      for (const part of parts) {
        const view = isObject(part) ? bytesView(part) : undefined;
        if (view !== undefined) push(chunks, view);
        else if (isObject(part) && #bytes in part) push(chunks, part.#bytes);
        else {
          const text = wellFormed(part);
          push(chunks, encodeUtf8(endings === 'native' ? nativeLineEndings(text) : text));
        }
      }
    }
    this.#bytes = concatBytes(chunks);
    this.#type = options?.type === undefined ? '' : blobType(options.type);
    weakMapSet(blobBytes, this, this.#bytes);
  }

  get size() { return typedLength(this.#bytes); }
  get type() { return this.#type; }

  slice(start = 0, end = undefined, type = '') {
    const size = typedLength(this.#bytes);
    const from = clampIndex(start, size);
    const to = end === undefined ? size : clampIndex(end, size);
    return makeBlob(copyBytes(this.#bytes, from, max(from, to)), toText(type));
  }
  async arrayBuffer() { return typedBuffer(copyBytes(this.#bytes)); }
  async bytes() { return copyBytes(this.#bytes); }
  async text() { return decodeUtf8(this.#bytes); }
  stream() { return streamOf(bytesSource(copyBytes(this.#bytes))); }
}
defineProperty(Blob.prototype.slice, 'length', { __proto__: null, value: 0, writable: false, enumerable: false, configurable: true });
publish(Blob);
const blobTypeOf = uncurryGetter(Blob.prototype, 'type');
showAs(Blob, (blob) => ({ fields: { size: typedLength(weakMapGet(blobBytes, blob)), type: blobTypeOf(blob) } }));
const isBlob = (value) => isObject(value) && weakMapHas(blobBytes, value);
const makeBlob = (bytes, type) => new Blob(listOf(bytes), { __proto__: null, type });
mapSet(cloneableClasses, Blob.prototype, (blob) => makeBlob(weakMapGet(blobBytes, blob), blobTypeOf(blob)));

/** An iterable of one value that does not depend on `Array.prototype[Symbol.iterator]`. */
const listOf = (value) => ({
  __proto__: null,
  [symbolIterator]() {
    let given = false;
    return { __proto__: null, next() {
      if (given) return { value: undefined, done: true };
      given = true;
      return { value, done: false };
    } };
  },
});

function clampIndex(value, size) {
  const index = trunc(+value) || 0;
  return index < 0 ? max(size + index, 0) : min(index, size);
}

class File extends Blob {
  #name;
  #lastModified;

  constructor(parts, name, options = undefined) {
    requireArguments(arguments, 2, 'File');
    super(parts, options);
    this.#name = wellFormed(name);
    this.#lastModified = options?.lastModified === undefined ? floor(nativeNow()) : trunc(+options.lastModified) || 0;
  }
  get name() { return this.#name; }
  get lastModified() { return this.#lastModified; }
  get webkitRelativePath() { return ''; }
  static inside() {
    return {
      isOne: (value) => isObject(value) && #name in value,
      nameOf: (file) => file.#name,
      modifiedOf: (file) => file.#lastModified,
    };
  }
}
const { isOne: isFile, nameOf: fileName, modifiedOf: fileModified } = File.inside();
delete File.inside;
publish(File);
showAs(File, (file) => ({ fields: { size: typedLength(weakMapGet(blobBytes, file)), type: blobTypeOf(file), name: fileName(file), lastModified: fileModified(file) } }));
const makeFile = (bytes, name, type, lastModified) => new File(listOf(bytes), name, { __proto__: null, type, lastModified });
mapSet(cloneableClasses, File.prototype, (file) =>
  makeFile(weakMapGet(blobBytes, file), fileName(file), blobTypeOf(file), fileModified(file)));
