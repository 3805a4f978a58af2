// kv: key spaces, each granted by name. Values are JSON; the host keeps them, their versions and when they expire.

const KV_KEY_BYTES_MAX = 512;
const KV_TTL_SECONDS_MAX = 1e11; // three thousand years

const kvText = (value, what) => {
  if (typeof value !== 'string') throw new TypeError(what + ' must be a string');
  return wellFormed(value);
};
const kvKey = (key) => {
  const text = kvText(key, 'A key');
  const bytes = typedLength(encodeUtf8(text));
  if (bytes === 0 || bytes > KV_KEY_BYTES_MAX) throw new TypeError('A key must have 1 to ' + KV_KEY_BYTES_MAX + ' bytes, this one has ' + bytes);
  return text;
};
const kvValue = (value) => {
  if (value === undefined || typeof value === 'function' || typeof value === 'symbol') throw new TypeError('A value must be JSON; use delete() to remove a key');
  return value;
};
const requireOptions = (options) => {
  if (options !== undefined && options !== null && !isObject(options)) throw new TypeError('The options must be an object');
  return options ?? undefined;
};
const kvWhole = (value, what, most) => {
  if (typeof value !== 'number' || !isInteger(value) || value < 0 || value > most) throw new TypeError(what + ' must be a whole number');
  return value;
};
const kvTtl = (ttl) => {
  if (ttl === undefined || ttl === null) return undefined;
  if (typeof ttl !== 'number' || !(ttl > 0 && ttl <= KV_TTL_SECONDS_MAX)) throw new TypeError('ttl must be a number of seconds above 0');
  return ceil(ttl * 1_000);
};
/** The host gives moments in milliseconds since 1970. */
const dateOf = (moment) => (moment === null || moment === undefined ? null : new Date(moment));
const kvEntry = (entry) => ({ value: entry.value, metadata: entry.metadata ?? null, version: entry.version, expires: dateOf(entry.expires) });

const kvAsk = (space, fields) => {
  fields.kind = 'kv';
  fields.space = space;
  return nativeAsk(fields);
};

async function kvPut(space, key, expect, value, options) {
  const call = { __proto__: null, op: 'put', key: kvKey(key), value: kvValue(value), expect };
  const given = requireOptions(options);
  call.metadata = given?.metadata;
  call.ttl_ms = kvTtl(given?.ttl);
  return await kvAsk(space, call);
}
const kvGet = (space, keys) => kvAsk(space, { __proto__: null, op: 'get', keys });
async function kvGetOne(space, key) {
  const keys = newList();
  push(keys, key);
  return (await kvGet(space, keys))[0];
}
async function kvList(space, prefix, cursor, limit) {
  const page = await kvAsk(space, { __proto__: null, op: 'list', prefix, cursor, limit });
  const keys = [];
  for (let i = 0; i < page.keys.length; i++) {
    const { key, metadata = null, version, expires } = page.keys[i];
    defineVisible(keys, i, { key, metadata, version, expires: dateOf(expires) });
  }
  return { keys, cursor: page.cursor ?? null };
}

/** The name of the key space that a method was called on. The engine makes these objects: see `makeKv`. */
const spaceOf = (object) => {
  const name = nativeSpaceName(object);
  if (name === undefined) throw new TypeError('This method must be called on a key space, as in kv.get(key)');
  return name;
};

/** What every key space has. It has no prototype, so that only what is written here is found on one. */
const spaceMethods = freeze({
  __proto__: null,
  async get(key) {
    const entry = await kvGetOne(spaceOf(this), kvKey(key));
    return entry === null ? null : entry.value;
  },
  async getMany(keys) {
    const space = spaceOf(this);
    const asked = newList();
    for (const key of keys) push(asked, kvKey(key));
    const entries = asked.length === 0 ? asked : await kvGet(space, asked);
    const values = [];
    for (let i = 0; i < entries.length; i++) defineVisible(values, i, entries[i] === null ? null : entries[i].value);
    return values;
  },
  async getWithMetadata(key) {
    const entry = await kvGetOne(spaceOf(this), kvKey(key));
    return entry === null ? null : kvEntry(entry);
  },
  async put(key, value, options = undefined) { return await kvPut(spaceOf(this), key, undefined, value, options); },
  async compareAndSet(key, expectedVersion, value, options = undefined) {
    const expect = expectedVersion === null ? 0 : kvWhole(expectedVersion, 'The expected version', MAX_SAFE_INTEGER);
    return await kvPut(spaceOf(this), key, expect, value, options);
  },
  async delete(key) { return await kvAsk(spaceOf(this), { __proto__: null, op: 'delete', key: kvKey(key) }); },
  async list(options = undefined) {
    const space = spaceOf(this);
    const given = requireOptions(options);
    const cursor = given?.cursor ?? undefined;
    const limit = given?.limit ?? undefined;
    const prefix = given?.prefix ?? '';
    return await kvList(space, kvText(prefix, 'prefix'), cursor === undefined ? undefined : kvText(cursor, 'cursor'),
      limit === undefined ? undefined : kvWhole(limit, 'limit', 2 ** 32 - 1));
  },
  keys(prefix = '') {
    const space = spaceOf(this);
    const start = kvText(prefix, 'prefix');
    let page;
    let at = 0;
    return {
      async next() {
        for (;;) {
          if (page !== undefined && at < page.keys.length) {
            at += 1;
            return { value: page.keys[at - 1].key, done: false };
          }
          if (page !== undefined && page.cursor === null) return { value: undefined, done: true };
          page = await kvList(space, start, page?.cursor, undefined);
          at = 0;
        }
      },
      async return(value) {
        page = { __proto__: null, keys: newList(), cursor: null };
        return { value, done: true };
      },
      [symbolAsyncIterator]() { return this; },
    };
  },
  space(name) {
    const space = nativeFindSpace(name);
    if (space === undefined) throw new TypeError('The key space ' + inspect(name, { __proto__: null, depth: 0 }) + ' is not granted');
    return space;
  },
});
/** The prototype of a `kv` that is no space itself, because there are several. */
const spacesMethods = freeze({ __proto__: null, space: spaceMethods.space });
