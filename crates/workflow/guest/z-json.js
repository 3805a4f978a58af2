// From a schema to JSON Schema: the same fields in the same order as `toJSONSchema` of zod 4, without `$schema`.
//
// An agent is shown this text, so even the order is kept: the same workflow asks the same on both.

import { TypeError, abs, detached, includes, isArray, jsonCopy, newList, objectKeys, push, regExpSource, setField } from './capture.js';
import { FORMATS } from './z-formats.js';

/** Whether the value may be missing where an object has a field for it. */
export const mayBeMissing = (def) => {
  switch (def.kind) {
    case 'optional': return true;
    case 'nullable': case 'readonly': return mayBeMissing(def.inner);
    case 'union': for (let i = 0; i < def.options.length; i++) if (mayBeMissing(def.options[i])) return true;
  }
  return false;
};

/** The values that a key can have, when they can be counted. */
export const keyValues = (def) => {
  if (def.kind === 'enum' || def.kind === 'literal') return def.values;
  if (def.kind !== 'union') return undefined;
  const all = newList();
  for (let i = 0; i < def.options.length; i++) {
    const values = keyValues(def.options[i]);
    if (values === undefined) return undefined;
    for (let v = 0; v < values.length; v++) push(all, values[v]);
  }
  return all;
};

const map = (list, make) => {
  const made = newList();
  for (let i = 0; i < list.length; i++) push(made, make(list[i]));
  return made;
};
const all = (list, type) => {
  for (let i = 0; i < list.length; i++) if ((list[i] === null ? 'null' : typeof list[i]) !== type) return false;
  return true;
};
/** The narrowest of the bounds that checks named `name` set. */
const bound = (def, name, narrower) => {
  let found;
  for (let i = 0; i < def.checks.length; i++) {
    const { check, value } = def.checks[i];
    if (check === name && (found === undefined || narrower(value, found))) found = value;
  }
  return found;
};
const least = (def, name) => bound(def, name, (a, b) => a > b);
const most = (def, name) => bound(def, name, (a, b) => a < b);
const lengths = (json, def, low, high) => {
  const from = least(def, 'min');
  const to = most(def, 'max');
  if (from !== undefined) json[low] = from;
  if (to !== undefined) json[high] = to;
};

const NULL = { __proto__: null, kind: 'null' };
const writers = {
  __proto__: null,
  string(json, def) {
    json.type = 'string';
    lengths(json, def, 'minLength', 'maxLength');
    const patterns = newList();
    for (let i = 0; i < def.checks.length; i++) {
      const { check, value } = def.checks[i];
      const pattern = check === 'format' ? FORMATS[value].pattern : check === 'pattern' ? value : undefined;
      if (check === 'format' || check === 'pattern') delete json.format;
      if (check === 'format' && FORMATS[value].format !== undefined) json.format = FORMATS[value].format;
      if (check === 'pattern' && def.checks[i].format !== undefined) json.format = def.checks[i].format;
      if (pattern !== undefined && !includes(patterns, pattern)) push(patterns, pattern);
    }
    if (patterns.length === 1) json.pattern = regExpSource(patterns[0]);
    else if (patterns.length > 1) json.allOf = map(patterns, (pattern) => ({ __proto__: null, pattern: regExpSource(pattern) }));
  },
  number(json, def) {
    json.type = def.isInteger ? 'integer' : 'number';
    const low = least(def, 'min');
    const over = least(def, 'over');
    if (over !== undefined && !(over < low)) json.exclusiveMinimum = over;
    else if (low !== undefined) json.minimum = low;
    const high = most(def, 'max');
    const under = most(def, 'under');
    if (under !== undefined && !(under > high)) json.exclusiveMaximum = under;
    else if (high !== undefined) json.maximum = high;
    const divisors = newList();
    for (let i = 0; i < def.checks.length; i++) {
      const { check, value } = def.checks[i];
      if (check === 'multiple' && !includes(divisors, abs(value))) push(divisors, abs(value));
    }
    if (divisors.length > 0) json.multipleOf = divisors[0];
    if (divisors.length > 1) {
      const others = newList();
      for (let i = 1; i < divisors.length; i++) push(others, { __proto__: null, multipleOf: divisors[i] });
      json.allOf = others;
    }
  },
  boolean(json) { json.type = 'boolean'; },
  null(json) { json.type = 'null'; },
  any() {},
  never(json) { json.not = { __proto__: null }; },
  enum(json, def) {
    if (all(def.values, 'number')) json.type = 'number';
    if (all(def.values, 'string')) json.type = 'string';
    json.enum = def.values;
  },
  literal(json, def) {
    const { values } = def;
    if (values.length === 1) {
      json.type = values[0] === null ? 'null' : typeof values[0];
      json.const = values[0];
      return;
    }
    const types = ['number', 'string', 'boolean', 'null'];
    for (let i = 0; i < types.length; i++) if (all(values, types[i])) json.type = types[i];
    json.enum = values;
  },
  array(json, def) {
    lengths(json, def, 'minItems', 'maxItems');
    json.type = 'array';
    json.items = toJsonSchema(def.element);
  },
  tuple(json, def) {
    json.type = 'array';
    json.prefixItems = map(def.items, toJsonSchema);
    json.items = def.rest === undefined ? false : toJsonSchema(def.rest);
    let needed = def.items.length;
    while (needed > 0 && mayBeMissing(def.items[needed - 1])) needed -= 1;
    if (needed > 0) json.minItems = needed;
    if (def.rest === undefined) json.maxItems = def.items.length;
  },
  object(json, def) {
    json.type = 'object';
    json.properties = { __proto__: null };
    const names = objectKeys(def.shape);
    const required = newList();
    for (let i = 0; i < names.length; i++) {
      setField(json.properties, names[i], toJsonSchema(def.shape[names[i]]));
      if (!mayBeMissing(def.shape[names[i]])) push(required, names[i]);
    }
    if (required.length > 0) json.required = required;
    json.additionalProperties = def.others === undefined || def.others.kind === 'never' ? false : toJsonSchema(def.others);
  },
  record(json, def) {
    json.type = 'object';
    json.propertyNames = toJsonSchema(def.key);
    json.additionalProperties = toJsonSchema(def.value);
    const names = def.isPartial ? undefined : keyValues(def.key);
    if (names !== undefined) json.required = names;
  },
  union(json, def) { json[def.exactlyOne ? 'oneOf' : 'anyOf'] = map(def.options, toJsonSchema); },
  nullable(json, def) { json.anyOf = map([def.inner, NULL], toJsonSchema); },
  optional() {},
  default(json, def) { json.default = detached(jsonCopy(def.value())); },
  readonly(json) { json.readOnly = true; },
};

/** Schemas that say what their inner one says, and something more. */
const WRAPPERS = ['optional', 'default', 'readonly'];

/** Without prototypes, as it is sent. */
export const toJsonSchema = (def) => {
  const write = writers[def.kind];
  if (write === undefined) throw new TypeError('a schema of kind ' + def.kind + ' has no JSON Schema');
  const json = { __proto__: null };
  write(json, def);
  if (def.meta !== undefined) {
    const names = objectKeys(def.meta);
    for (let i = 0; i < names.length; i++) setField(json, names[i], detached(def.meta[names[i]]));
  }
  if (includes(WRAPPERS, def.kind)) {
    const inner = toJsonSchema(def.inner);
    const names = objectKeys(inner);
    for (let i = 0; i < names.length; i++) if (json[names[i]] === undefined) setField(json, names[i], inner[names[i]]);
  }
  compactTypes(json);
  return json;
};

/** Writes `anyOf: [{ type: "a" }, { type: "b" }]` as `type: ["a", "b"]`. */
const compactTypes = (json) => {
  if (json.anyOf === undefined || json.type !== undefined) return;
  const types = newList();
  for (let i = 0; i < json.anyOf.length; i++) {
    const names = objectKeys(json.anyOf[i]);
    if (names.length !== 1 || names[0] !== 'type') return;
    const { type } = json.anyOf[i];
    const members = isArray(type) ? type : [type];
    for (let m = 0; m < members.length; m++) if (!includes(types, members[m])) push(types, members[m]);
  }
  delete json.anyOf;
  json.type = types.length === 1 ? types[0] : types;
};
