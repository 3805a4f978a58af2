// Namespaces of tools: `tools.<namespace>.<function>(args)`, and what tells about them.

const TOOL_NAME_MAX = 64;
/** What every object has, and what makes a promise or a date of one: so that a namespace can be awaited, printed and compared. */
const notTools = { __proto__: null, then: true, toJSON: true };
const everyObjects = ownKeys(ObjectPrototype);
for (let i = 0; i < everyObjects.length; i++) notTools[everyObjects[i]] = true;

const isToolName = (key) => {
  let ok = typeof key === 'string' && key !== '' && key.length <= TOOL_NAME_MAX && notTools[key] === undefined;
  for (let i = 0; ok && i < key.length; i++) ok = isNameUnit(charCodeAt(key, i), i);
  return ok;
};

/** Which functions there are only the host knows, so each name gives one; it is the same one each time. */
const emptyNamespace = freeze({ __proto__: null });
const makeNamespace = (namespace) => {
  const made = { __proto__: null };
  const get = (_, key) => {
    if (!isToolName(key)) return undefined;
    return made[key] ?? (made[key] = nativeTool(namespace + '.' + key, key));
  };
  // Nothing else is trapped: all that one can do to a frozen object without properties is nothing.
  return new Proxy(emptyNamespace, { __proto__: null, get });
};

const askSearch = nativeTool('tools.search', 'search');
const askDescribe = nativeTool('tools.describe', 'describe');
/** Like any tool they take one object as well. */
const isTable = (value) => typeof value === 'object' && value !== null;
const aboutTools = freeze({
  __proto__: null,
  search: (query, limit) => askSearch(isTable(query) ? query : { __proto__: null, query, limit }),
  describe: (path) => askDescribe(isTable(path) ? path : { __proto__: null, path }),
});
