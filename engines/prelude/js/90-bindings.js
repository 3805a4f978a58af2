// Bindings: what one run was granted, put in place before its program starts. `hooks` is what the engine gets back.

const TOOL_GLOBAL_PREFIX = 'external_';

/** The guest's end of one tool. Only the first argument goes to the host. */
const makeTool = (name) => {
  const holder = {
    [name](argument) {
      try {
        return nativeCall(name, argument);
      } catch (error) {
        return rejected(error);
      }
    },
  };
  return getOwnPropertyDescriptor(holder, name).value;
};

/** Without a prototype, so that a name that was not granted is undefined, `constructor` and `__proto__` included. */
const makeTools = (names) => {
  const tools = { __proto__: null };
  for (let i = 0; i < names.length; i++) {
    const tool = makeTool(names[i]);
    defineVisible(tools, names[i], tool);
    defineGlobal(TOOL_GLOBAL_PREFIX + names[i], tool);
  }
  return freeze(tools);
};

/** Errors of the host keep the class that the program can test with `instanceof`. */
const builtInErrors = { __proto__: null, Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };

const makeError = (name, message, code) => {
  const Class = builtInErrors[name];
  const error = name === 'AggregateError' ? new AggregateError([], message) : new (Class ?? Error)(message);
  if (Class === undefined && name !== 'AggregateError') defineHidden(error, 'name', name);
  if (code !== undefined) defineVisible(error, 'code', code);
  return error;
};

/** These are made with the image; a grant only gives them their name. An engine may do that itself. */
const bindings = freeze({ __proto__: null, fetch: fetchGlobal, files, invoke: invokeGlobal, secrets });
const bindingNames = freeze(ownKeys(bindings));

const configure = (config) => {
  if (hasOwn(config, 'tools')) defineGlobal('tools', makeTools(config.tools));
  if (hasOwn(config, 'kv')) defineGlobal('kv', makeKv(config.kv));
  for (let i = 0; i < bindingNames.length; i++) if (hasOwn(config, bindingNames[i])) defineGlobal(bindingNames[i], bindings[bindingNames[i]]);
  if (hasOwn(config, 'input')) defineGlobal('input', config.input);
  if (hasOwn(config, 'args')) {
    const names = ownKeys(config.args);
    for (let i = 0; i < names.length; i++) defineGlobal(names[i], config.args[names[i]]);
  }
};

defineGlobal('tools', makeTools([]));
defineGlobal('input', undefined);

const REJECTION_CHARS_MAX = 2_000;
const NOTES = 2; // a stream of the engine: stderr, if there is room
/** What a promise was rejected with while nobody listened. */
const reportRejection = (reason) => {
  nativeOutput(NOTES, slice('Uncaught (in promise) ' + inspect(reason), 0, REJECTION_CHARS_MAX));
};

const hooks = freeze({ __proto__: null, configure, bindings, makeBody, makeError, reportRejection });
