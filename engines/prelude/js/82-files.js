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
const fileText = (value, what) => {
  if (typeof value !== 'string') throw new TypeError(what + ' must be a string');
  return wellFormed(value);
};
const fileTextIf = (value, what) => (value === undefined || value === null ? undefined : fileText(value, what));
/** A moment in milliseconds since 1970, as a number or a Date. */
const fileMoment = (value, what) => fileNumber(isObject(value) ? dateTime(value) : value, what);
const filesAsk = (fields, bytes) => {
  fields.kind = 'files';
  return nativeAsk(fields, bytes);
};
const askRead = (path, offset, length, version) => filesAsk({ __proto__: null, op: 'read', path, offset: offset ?? 0, length, version });

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

/** `old, new, options` is one edit; a list is several, which are made all or none. */
function fileEdits(old, replacement, options) {
  if (!isArray(old)) {
    return [{ __proto__: null, old: fileText(old, 'The old text'), new: fileText(replacement, 'The new text'), replace_all: Boolean(requireOptions(options)?.all) }];
  }
  const edits = [];
  for (let i = 0; i < old.length; i++) {
    const edit = old[i];
    if (!isObject(edit)) throw new TypeError('An edit must be an object with old and new');
    defineVisible(edits, i, { __proto__: null, old: fileText(edit.old, 'The old text'), new: fileText(edit.new, 'The new text'), replace_all: Boolean(edit.replace_all) });
  }
  return edits;
}

const fileGlobs = (include) => {
  if (include === undefined || include === null) return undefined;
  if (!isArray(include)) return [fileText(include, 'A glob')];
  const globs = [];
  for (let i = 0; i < include.length; i++) defineVisible(globs, i, fileText(include[i], 'A glob'));
  return globs;
};

const files = freeze({
  __proto__: null,
  async read(path, options = undefined) {
    const text = filePath(path);
    const given = requireOptions(options);
    const length = fileNumber(given?.length, 'length');
    const offset = fileNumber(given?.offset, 'offset');
    const version = fileNumber(given?.version, 'version');
    return await readReply(await askRead(text, offset, length, version));
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
    if (found === null) return null;
    const told = { kind: found.kind, size: found.size, modified: dateOf(found.modified) };
    if (found.mode !== undefined) defineVisible(told, 'mode', found.mode);
    if (found.target !== undefined) defineVisible(told, 'target', found.target);
    return told;
  },
  async exists(path) { return (await filesAsk({ __proto__: null, op: 'stat', path: filePath(path) })) !== null; },
  async remove(path, options = undefined) {
    const text = filePath(path);
    return await filesAsk({ __proto__: null, op: 'remove', path: text, recursive: Boolean(requireOptions(options)?.recursive) });
  },
  async makeFolder(path) { await filesAsk({ __proto__: null, op: 'make_folder', path: filePath(path) }); },
  async rename(path, to) { await filesAsk({ __proto__: null, op: 'rename', path: filePath(path), to: filePath(to) }); },
  async readLines(path, options = undefined) {
    const text = filePath(path);
    const given = requireOptions(options);
    const from = fileNumber(given?.from, 'from');
    const lines = fileNumber(given?.lines, 'lines');
    return await filesAsk({ __proto__: null, op: 'read_lines', path: text, from, lines });
  },
  async edit(path, old, replacement = undefined, options = undefined) {
    const text = filePath(path);
    return await filesAsk({ __proto__: null, op: 'edit', path: text, edits: fileEdits(old, replacement, options) });
  },
  async copy(path, to) { await filesAsk({ __proto__: null, op: 'copy', path: filePath(path), to: filePath(to) }); },
  async link(path, target) { await filesAsk({ __proto__: null, op: 'link', path: filePath(path), target: fileText(target, 'A target') }); },
  async glob(pattern, options = undefined) {
    const text = fileText(pattern, 'A pattern');
    const given = requireOptions(options);
    const path = filePath(given?.path ?? '.');
    const ignore = Boolean(given?.ignore);
    const limit = fileNumber(given?.limit, 'limit');
    return (await filesAsk({ __proto__: null, op: 'glob', path, pattern: text, ignore, limit })).paths;
  },
  async grep(pattern, options = undefined) {
    const text = fileText(pattern, 'A pattern');
    const given = requireOptions(options);
    const path = filePath(given?.path ?? '.');
    const literal = Boolean(given?.literal);
    const ignore_case = Boolean(given?.ignoreCase);
    const include = fileGlobs(given?.include);
    const ignore = Boolean(given?.ignore);
    const context = fileNumber(given?.context, 'context');
    const limit = fileNumber(given?.limit, 'limit');
    return await filesAsk({ __proto__: null, op: 'grep', path, pattern: text, literal, ignore_case, include, ignore, context, limit });
  },
  async find(options = undefined) {
    const given = requireOptions(options);
    const path = filePath(given?.path ?? '.');
    const name = fileTextIf(given?.name, 'name');
    const only = fileTextIf(given?.kind, 'kind');
    const at_least = fileNumber(given?.atLeast, 'atLeast');
    const since = fileMoment(given?.since, 'since');
    const limit = fileNumber(given?.limit, 'limit');
    const found = await filesAsk({ __proto__: null, op: 'find', path, name, only, at_least, since, limit });
    for (let i = 0; i < found.entries.length; i++) found.entries[i].modified = dateOf(found.entries[i].modified);
    return found;
  },
  async tree(path = '.', options = undefined) {
    const text = filePath(path);
    const depth = fileNumber(requireOptions(options)?.depth, 'depth');
    return await filesAsk({ __proto__: null, op: 'tree', path: text, depth });
  },
  async diff(path, other) {
    const text = filePath(path);
    let to;
    let version;
    if (typeof other === 'string') {
      to = filePath(other);
    } else {
      const given = requireOptions(other);
      to = fileTextIf(given?.to, 'to');
      version = fileNumber(given?.version, 'version');
    }
    if (to === undefined && version === undefined) throw new TypeError('Say what to compare with: another file, or { version }');
    return (await filesAsk({ __proto__: null, op: 'diff', path: text, to, version })).diff;
  },
  async history(path = '.', options = undefined) {
    const text = filePath(path);
    const limit = fileNumber(requireOptions(options)?.limit, 'limit');
    const { changes } = await filesAsk({ __proto__: null, op: 'history', path: text, limit });
    for (let i = 0; i < changes.length; i++) changes[i].at = dateOf(changes[i].at);
    return changes;
  },
  async undo(options = undefined) {
    const version = fileNumber(requireOptions(options)?.version, 'version');
    return await filesAsk({ __proto__: null, op: 'undo', version });
  },
});
