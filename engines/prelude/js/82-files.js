// files: what a grant opens of the run's files. Paths are text; the host decides where they lead.

const filePath = (path) => {
  if (typeof path !== 'string') throw new TypeError('A path must be a string');
  return wellFormed(path);
};
const fileNumber = (value, what) => {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number' || !isInteger(value) || value < 0 || value > MAX_SAFE_INTEGER) throw new TypeError(what + ' must be a whole number');
  return value;
};
const filesAsk = (fields, bytes) => {
  fields.kind = 'files';
  return nativeAsk(fields, bytes);
};
const askRead = (path, offset, length) => filesAsk({ __proto__: null, op: 'read', path, offset: offset ?? 0, length });

/** A small file comes as bytes, a large one as a body that the host holds. */
const readReply = async (reply) => (isHostBody(reply) ? await readHostBody(takeHostBody(reply)) : reply);
const readFile = async (path) => await readReply(await askRead(filePath(path)));

/** Opened when it is first read. */
const fileSource = (path) => {
  let source;
  let over = false;
  return {
    __proto__: null,
    whole: undefined,
    async next() {
      if (over) return NO_BYTES;
      if (source === undefined) {
        const reply = await askRead(path);
        source = isHostBody(reply) ? hostSource(takeHostBody(reply)) : bytesSource(reply);
        if (over) source.cancel();
      }
      return await source.next();
    },
    cancel() {
      over = true;
      source?.cancel();
    },
  };
};

function fileData(data) {
  if (typeof data === 'string') return bytesSource(encodeUtf8(data));
  if (isObject(data)) {
    const view = bytesView(data);
    if (view !== undefined) return bytesSource(view);
    if (isBlob(data) || isHostBody(data) || isBodyStream(data) || typeof data[symbolAsyncIterator] === 'function') return extractBody(data).source;
  }
  throw new TypeError('What is written must be text, bytes, a Blob or a stream; for other values there is writeJson()');
}

/**
 * Writes in one call what one call may carry; more than that is appended piece by piece. Gives the file's size. Bytes that
 * are all here are taken when the call is made, whatever the program does to them afterwards.
 */
async function writeFile(path, data, append) {
  const text = filePath(path);
  const source = fileData(data);
  // A character of a path takes at most six bytes in JSON.
  const most = max(1, nativePayloadMax() - CALL_OVERHEAD_BYTES - 6 * text.length);
  const ask = (bytes, behind) => filesAsk({ __proto__: null, op: 'write', path: text, append: behind }, bytes);
  let size;
  let chunk = source.whole;
  if (chunk !== undefined) {
    if (typedLength(chunk) <= most) return await ask(chunk, append);
    chunk = copyBytes(chunk);
  }
  try {
    for (;;) {
      chunk ??= await source.next();
      const length = typedLength(chunk);
      for (let at = 0; at < length; at += most) size = await ask(copyBytes(chunk, at, min(at + most, length)), append || size !== undefined);
      if (length === 0 || source.whole !== undefined) return size === undefined ? await ask(NO_BYTES, append) : size;
      chunk = undefined;
    }
  } catch (error) {
    source.cancel();
    throw error;
  }
}

const files = freeze({
  __proto__: null,
  async read(path, options = undefined) {
    const text = filePath(path);
    const given = requireOptions(options);
    const length = fileNumber(given?.length, 'length');
    const offset = fileNumber(given?.offset, 'offset');
    return await readReply(await askRead(text, offset, length));
  },
  async readText(path) { return decodeUtf8(await readFile(path)); },
  async readJson(path) { return jsonParse(decodeUtf8(await readFile(path))); },
  stream(path) { return streamOf(fileSource(filePath(path))); },
  async write(path, data) { return await writeFile(path, data, false); },
  async append(path, data) { return await writeFile(path, data, true); },
  async writeJson(path, value) {
    const text = jsonStringify(value);
    if (text === undefined) throw new TypeError('The value is not JSON');
    return await writeFile(path, text, false);
  },
  async list(path = '.') {
    const text = filePath(path);
    const entries = [];
    let cursor;
    do {
      const page = await filesAsk({ __proto__: null, op: 'list', path: text, cursor });
      for (let i = 0; i < page.entries.length; i++) defineVisible(entries, entries.length, page.entries[i]);
      cursor = page.cursor ?? undefined;
    } while (cursor !== undefined);
    return entries;
  },
  async stat(path) {
    const found = await filesAsk({ __proto__: null, op: 'stat', path: filePath(path) });
    return found === null ? null : { kind: found.kind, size: found.size, modified: dateOf(found.modified) };
  },
  async exists(path) { return (await filesAsk({ __proto__: null, op: 'stat', path: filePath(path) })) !== null; },
  async remove(path, options = undefined) {
    const text = filePath(path);
    return await filesAsk({ __proto__: null, op: 'remove', path: text, recursive: Boolean(requireOptions(options)?.recursive) });
  },
  async makeFolder(path) { await filesAsk({ __proto__: null, op: 'make_folder', path: filePath(path) }); },
  async rename(path, to) { await filesAsk({ __proto__: null, op: 'rename', path: filePath(path), to: filePath(to) }); },
});
