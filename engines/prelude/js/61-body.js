// Bodies: what Request and Response have in common. A state belongs to one of them; it is read once.

// A source gives chunks until an empty one. `whole` is what is left of it where that is all here already; `cancel` says that
// the rest is not wanted.

const takeWhole = (source) => {
  const bytes = source.whole;
  source.whole = NO_BYTES;
  return bytes;
};
async function nextOfWhole() { return takeWhole(this); }
function cancelWhole() { this.whole = NO_BYTES; }
const bytesSource = (bytes) => ({ __proto__: null, whole: bytes, next: nextOfWhole, cancel: cancelWhole });
const hostSource = (id) => {
  let over = false;
  return {
    __proto__: null,
    whole: undefined,
    async next() {
      if (over) return NO_BYTES;
      const chunk = await nativeReadBody(id, HOST_BODY_CHUNK_BYTES);
      if (typedLength(chunk) === 0) over = true;
      return chunk;
    },
    cancel() {
      if (!over) dropBody(id);
      over = true;
    },
  };
};
/** Two sources that share one reading of another. It is let go when neither wants it. */
const sharedSources = (source) => {
  let whole;
  let wanted = 2;
  const make = () => {
    let given = false;
    return {
      __proto__: null,
      whole: undefined,
      async next() {
        if (given) return NO_BYTES;
        given = true;
        whole ??= readSource(source);
        return copyBytes(await whole);
      },
      cancel() {
        if (given) return;
        given = true;
        wanted -= 1;
        if (wanted === 0) source.cancel();
      },
    };
  };
  return make;
};
/** The chunks of a program's own async iterable: bytes, or text. */
const iterableSource = (iterable, open) => {
  let iterator;
  let over = false;
  return {
    __proto__: null,
    whole: undefined,
    async next() {
      iterator ??= apply(open, iterable, []);
      while (!over) {
        const step = await iterator.next();
        if (!isObject(step)) throw new TypeError('Iterator result ' + directiveText(step) + ' is not an object');
        if (step.done) break;
        const chunk = chunkBytes(step.value);
        if (typedLength(chunk) > 0) return chunk;
      }
      over = true;
      return NO_BYTES;
    },
    cancel() {
      if (over) return;
      over = true;
      closeQuietly(iterator);
    },
  };
};
const chunkBytes = (chunk) => {
  if (typeof chunk === 'string') return encodeUtf8(chunk);
  const view = isObject(chunk) ? bytesView(chunk) : undefined;
  if (view === undefined) throw new TypeError('A chunk of a body must be bytes or text');
  return copyBytes(view);
};
async function closeQuietly(iterator) {
  try {
    await iterator?.return?.();
  } catch {
    // Nobody is left to tell.
  }
}

async function readSource(source) {
  const chunks = newList();
  for (;;) {
    const chunk = await source.next();
    if (typedLength(chunk) === 0) return chunks.length === 1 ? chunks[0] : concatBytes(chunks);
    push(chunks, chunk);
  }
}

const newBodyState = (source, type) => ({ __proto__: null, source, type, used: false, locked: false, stream: undefined });
const noBody = () => newBodyState(null, null);

/** The state for a guest's body argument, with the content type that it implies. */
function extractBody(body) {
  if (body === null || body === undefined) return noBody();
  if (typeof body === 'string') return newBodyState(bytesSource(encodeUtf8(body)), 'text/plain;charset=UTF-8');
  if (isObject(body)) {
    if (isSearchParams(body)) {
      return newBodyState(bytesSource(encodeUtf8(serializeForm(searchPairs(body)))), 'application/x-www-form-urlencoded;charset=UTF-8');
    }
    if (isBlob(body)) return newBodyState(bytesSource(copyBytes(weakMapGet(blobBytes, body))), blobTypeOf(body) === '' ? null : blobTypeOf(body));
    if (isFormData(body)) {
      const encoded = encodeMultipart(body);
      return newBodyState(bytesSource(encoded.bytes), encoded.type);
    }
    const view = bytesView(body);
    if (view !== undefined) return newBodyState(bytesSource(copyBytes(view)), null);
    if (isHostBody(body)) return newBodyState(hostSource(takeHostBody(body)), null);
    if (isBodyStream(body)) return newBodyState(takeStream(body), null);
    const open = body[symbolAsyncIterator];
    if (typeof open === 'function') return newBodyState(iterableSource(body, open), null);
  }
  return newBodyState(bytesSource(encodeUtf8(wellFormed(body))), 'text/plain;charset=UTF-8');
}

/** Marks the body as read and gives all its bytes. */
async function consumeBody(state) {
  if (state.used || state.locked) throw new TypeError('Body is unusable: Body has already been read');
  if (state.source === null) return new Uint8Array(0);
  state.used = true;
  return state.source.whole === undefined ? await readSource(state.source) : takeWhole(state.source);
}

function cloneBody(state) {
  if (state.used || state.locked) throw new TypeError('Body is unusable: it has already been read');
  if (state.source === null) return noBody();
  const { whole } = state.source;
  const make = whole === undefined ? sharedSources(state.source) : () => bytesSource(copyBytes(whole));
  state.source = make();
  state.stream = undefined;
  return newBodyState(make(), state.type);
}

const mimeEssence = (type) => {
  const end = indexOf(type, ';');
  return toLowerCase(trimAscii(end === -1 ? type : slice(type, 0, end)));
};

async function bodyFormData(state, type) {
  const essence = type === null ? '' : mimeEssence(type);
  if (essence === 'multipart/form-data') {
    const boundary = headerParameter(type, 'boundary');
    if (boundary === undefined) throw new TypeError('Could not parse content as FormData: there is no boundary.');
    return decodeMultipart(await consumeBody(state), boundary);
  }
  if (essence === 'application/x-www-form-urlencoded') return makeFormData(parseForm(decodeUtf8(await consumeBody(state))));
  throw new TypeError('Content-Type was not one of "multipart/form-data" or "application/x-www-form-urlencoded".');
}

/**
 * Adds the reading methods to a class. `stateOf`, `headersOf` and `wholeOf` check that they are called on one of its objects; the
 * last gives a body that needs no state, because all of it is here and nobody has looked at it yet, and marks it as read.
 */
function addBodyMethods(Class, stateOf, headersOf, wholeOf) {
  const bytesOf = async (object) => wholeOf(object) ?? await consumeBody(stateOf(object));
  const methods = {
    async arrayBuffer() { return typedBuffer(await bytesOf(this)); },
    async blob() { return makeBlob(await bytesOf(this), getHeader(headersOf(this), 'content-type') ?? ''); },
    async bytes() { return await bytesOf(this); },
    async formData() { return await bodyFormData(stateOf(this), getHeader(headersOf(this), 'content-type')); },
    async json() { return jsonParse(decodeUtf8(wholeOf(this) ?? await consumeBody(stateOf(this)))); },
    async text() { return decodeUtf8(wholeOf(this) ?? await consumeBody(stateOf(this))); },
  };
  const names = ownKeys(methods);
  for (let i = 0; i < names.length; i++) defineVisible(Class.prototype, names[i], methods[names[i]]);
  const getters = {
    get body() {
      const state = stateOf(this);
      if (state.source === null) return null;
      state.stream ??= streamOf(state.source, state);
      return state.stream;
    },
    get bodyUsed() { return stateOf(this).used; },
  };
  defineProperty(Class.prototype, 'body', getOwnPropertyDescriptor(getters, 'body'));
  defineProperty(Class.prototype, 'bodyUsed', getOwnPropertyDescriptor(getters, 'bodyUsed'));
}

const streamMaker = freeze({ __proto__: null });

/** The part of ReadableStream that programs use on a body: a reader, `for await`, `cancel`. */
class BodyStream {
  #source;
  #state;
  #locked = false;
  #ended = false;

  constructor() {
    if (arguments[0] !== streamMaker) throw new TypeError('Illegal constructor');
    this.#source = arguments[1];
    this.#state = arguments[2];
  }

  get locked() { return this.#locked; }

  getReader() {
    this.#lock();
    let held = true;
    const check = () => { if (!held) throw new TypeError('The reader has been released'); };
    return {
      read: async () => {
        check();
        return await this.#next();
      },
      cancel: async () => {
        check();
        this.#end();
      },
      releaseLock: () => {
        if (held) this.#unlock();
        held = false;
      },
    };
  }
  async cancel() {
    if (this.#locked) throw new TypeError('The stream is locked to a reader');
    this.#end();
  }
  values() { return this[symbolAsyncIterator](); }
  [symbolAsyncIterator]() {
    this.#lock();
    return {
      next: () => this.#next(),
      return: async (value) => {
        this.#end();
        return { value, done: true };
      },
      [symbolAsyncIterator]() { return this; },
    };
  }

  #lock() {
    if (this.#locked || (this.#state?.used && !this.#ended)) throw new TypeError('The stream is locked');
    this.#locked = true;
    if (this.#state !== undefined) this.#state.locked = true;
  }
  #unlock() {
    this.#locked = false;
    if (this.#state !== undefined) this.#state.locked = false;
  }
  #end() {
    if (!this.#ended) this.#source.cancel();
    this.#ended = true;
    if (this.#state !== undefined) this.#state.used = true;
  }
  async #next() {
    if (this.#state !== undefined) this.#state.used = true;
    if (this.#ended) return { value: undefined, done: true };
    const chunk = await this.#source.next();
    if (typedLength(chunk) > 0) return { value: chunk, done: false };
    this.#ended = true;
    return { value: undefined, done: true };
  }
  static inside() {
    return {
      isOne: (value) => isObject(value) && #source in value,
      take: (stream) => {
        stream.#lock();
        if (stream.#state !== undefined) stream.#state.used = true;
        return stream.#source;
      },
    };
  }
}
const { isOne: isBodyStream, take: takeStream } = BodyStream.inside();
delete BodyStream.inside;
defineHidden(BodyStream, 'name', 'ReadableStream');
dress(BodyStream, 'ReadableStream');
showAs(BodyStream, (stream) => ({ fields: { locked: stream.locked } }));
const streamOf = (source, state) => new BodyStream(streamMaker, source, state);
