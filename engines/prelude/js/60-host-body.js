// Host body: bytes that the host holds (a response, a file) and hands over piece by piece. Read once.

const HOST_BODY_CHUNK_BYTES = 64 << 10;

const ignore = () => {};
/** `promise.then(done, failed)` by `await`, because `then` asks the program's own `Promise[Symbol.species]` for its result. */
async function whenSettled(promise, done, failed) {
  let value;
  try {
    value = await promise;
  } catch (error) {
    failed(error);
    return;
  }
  done(value);
}
/** Tells the host that a request or the rest of a body is not wanted any more. What it answers does not matter. */
const drop = (what) => {
  try {
    whenSettled(nativeAsk(what), ignore, ignore);
  } catch {
    // Nothing was asked, so nothing is held.
  }
};
const dropBody = (id) => { drop({ __proto__: null, kind: 'drop', body: id }); };

/** The body behind an id. `size` is null when the host does not know the length beforehand. */
class HostBody {
  #id;
  #size;
  #used = false;

  constructor(id, size) {
    this.#id = id;
    this.#size = size;
  }

  get size() { return this.#size; }
  get bodyUsed() { return this.#used; }

  #take() {
    if (this.#used) throw new TypeError('Body has already been read');
    this.#used = true;
    return this.#id;
  }

  async bytes() { return await readHostBody(this.#take()); }
  async arrayBuffer() { return typedBuffer(await readHostBody(this.#take())); }
  async text() { return decodeUtf8(await readHostBody(this.#take())); }
  async json() { return jsonParse(decodeUtf8(await readHostBody(this.#take()))); }

  /** Chunks as they come. An early `break` lets the rest go. */
  [symbolAsyncIterator]() {
    const id = this.#take();
    let ended = false;
    const end = (value) => ({ value, done: true });
    return {
      async next() {
        if (ended) return end();
        const chunk = await nativeReadBody(id, HOST_BODY_CHUNK_BYTES);
        if (typedLength(chunk) > 0) return { value: chunk, done: false };
        ended = true;
        return end();
      },
      async return(value) {
        if (!ended) dropBody(id);
        ended = true;
        return end(value);
      },
      [symbolAsyncIterator]() { return this; },
    };
  }

  static isOne(value) { return isObject(value) && #id in value; }
  static take(body) { return body.#take(); }
}
const { isOne: isHostBody, take: takeHostBody } = HostBody;
delete HostBody.isOne;
delete HostBody.take;
dress(HostBody, 'HostBody');
showAs(HostBody, (body) => ({ fields: { size: body.size, bodyUsed: body.bodyUsed } }));

/** Reads to the end. The host bounds how much there can be. */
async function readHostBody(id) {
  const chunks = newList();
  for (;;) {
    const chunk = await nativeReadBody(id, HOST_BODY_CHUNK_BYTES);
    if (typedLength(chunk) === 0) return chunks.length === 1 ? chunks[0] : concatBytes(chunks);
    push(chunks, chunk);
  }
}

/** UTF-8 to text as bodies want it: malformed bytes replaced, a byte order mark removed. */
const decodeUtf8 = (bytes) => nativeUtf8Decode(bytes, false, true);

const makeBody = (id, length) => new HostBody(id, length ?? null);
