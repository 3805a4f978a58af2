// Bindings: what one run was granted, put in place before its program starts. `hooks` is what the engine gets back.

/*
 * What the engine makes of names, because a run pays for it each time (`guest/grants.c` for QuickJS):
 * - `tools`, frozen and without a prototype, so that a name that was not granted is undefined, `constructor` and `__proto__`
 *   included. A tool sends its first argument; what goes wrong with that is a rejection. Each has a twin, `external_<name>`.
 *   A namespace is what `makeNamespace` gives, unless a tool has its name; a function of one that is granted by name has a twin,
 *   `external_<namespace>_<function>`. Where there is a namespace there is `aboutTools`, as far as nothing else has those names.
 * - `kv`, frozen. With one key space it is that space as well; a method keeps its name where a space has the same.
 */

/** Errors of the host keep the class that the program can test with `instanceof`. */
const builtInErrors = { __proto__: null, Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };

const makeError = (name, message, code) => {
  const Class = builtInErrors[name];
  const error = name === 'AggregateError' ? new AggregateError([], message) : new (Class ?? Error)(message);
  if (Class === undefined && name !== 'AggregateError') defineHidden(error, 'name', name);
  if (code !== undefined) defineVisible(error, 'code', code);
  return error;
};

/** These are made once, with the image. A grant gives them their name, and the engine does that too. */
const bindings = freeze({ __proto__: null, fetch: fetchGlobal, files, invoke: invokeGlobal, secrets });

const configure = (config) => {
  if (hasOwn(config, 'input')) defineGlobal('input', config.input);
  if (hasOwn(config, 'args')) {
    const names = ownKeys(config.args);
    for (let i = 0; i < names.length; i++) defineGlobal(names[i], config.args[names[i]]);
  }
};

defineGlobal('tools', freeze({ __proto__: null }));
defineGlobal('input', undefined);

/** A copy of the bytes of a buffer or a view; undefined for anything else. */
const copyOfBytes = (source) => {
  const bytes = bytesView(source);
  return bytes === undefined ? undefined : copyBytes(bytes);
};

const REJECTION_CHARS_MAX = 2_000;
const NOTES = 2; // a stream of the engine: stderr, if there is room
/** What a promise was rejected with while nobody listened. */
const reportRejection = (reason) => {
  nativeOutput(NOTES, slice('Uncaught (in promise) ' + inspect(reason), 0, REJECTION_CHARS_MAX));
};

const hooks = freeze({ __proto__: null, configure, bindings, spaceMethods, spacesMethods, makeNamespace, aboutTools, makeBody, makeError, reportRejection, showAs, refuseClones, copyOfBytes });
