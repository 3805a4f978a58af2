// Checking a value against a schema. Gives the value as the schema has it: defaults in place, unknown fields left out.

import { abs, floor, hasOwn, includes, isArray, isFinite, isSafeInteger, newList, objectKeys, push, regExpExec, setField, showText, toArray } from './capture.js';
import { FORMATS, isUrl } from './z-formats.js';
import { keyValues, mayBeMissing } from './z-json.js';

const kindOf = (value) => (value === null ? 'null' : isArray(value) ? 'array' : typeof value);
const quoted = (value) => (typeof value === 'string' ? '"' + value + '"' : showText(value));
const list = (values) => {
  let text = '';
  for (let i = 0; i < values.length; i++) text += (i === 0 ? '' : ', ') + quoted(values[i]);
  return text;
};
/** Binary fractions are not exact: 0.3 is a multiple of 0.1. */
const MULTIPLE_TOLERANCE = 1e-9;
const isMultiple = (value, of) => {
  const times = value / of;
  return abs(times - floor(times + 0.5)) < MULTIPLE_TOLERANCE;
};
const matches = (pattern, text) => regExpExec(pattern, text) !== null;

const sized = (value, { check, value: limit }, unit) => {
  if (check === 'min' && value.length < limit) return 'must have at least ' + limit + ' ' + unit;
  if (check === 'max' && value.length > limit) return 'must have at most ' + limit + ' ' + unit;
  return undefined;
};
const checkers = {
  __proto__: null,
  string(value, check) {
    if (check.check === 'format') {
      const { pattern } = FORMATS[check.value];
      const fits = pattern === undefined ? isUrl(value) : matches(pattern, value);
      return fits ? undefined : 'is not a valid ' + check.value;
    }
    if (check.check === 'pattern') return matches(check.value, value) ? undefined : check.message ?? 'does not match ' + showText(check.value);
    return sized(value, check, 'characters');
  },
  number(value, { check, value: limit }) {
    if (check === 'min' && value < limit) return 'must be at least ' + limit;
    if (check === 'over' && value <= limit) return 'must be more than ' + limit;
    if (check === 'max' && value > limit) return 'must be at most ' + limit;
    if (check === 'under' && value >= limit) return 'must be less than ' + limit;
    if (check === 'multiple' && !isMultiple(value, limit)) return 'must be a multiple of ' + limit;
    return undefined;
  },
  array: (value, check) => sized(value, check, 'items'),
};

/** One look at one value: what is wrong goes to `issues` with the path to it. */
const say = (look, path, message) => {
  const keys = newList();
  for (let at = path; at !== undefined; at = at.above) push(keys, at.key);
  const ordered = newList();
  for (let i = keys.length - 1; i >= 0; i--) push(ordered, keys[i]);
  push(look.issues, { path: toArray(ordered), message });
};
const within = (above, key) => ({ __proto__: null, above, key });

const readers = {
  __proto__: null,
  any: (value) => value,
  null: (value, def, path, look) => expect(value, value === null, 'null', path, look),
  boolean: (value, def, path, look) => expect(value, typeof value === 'boolean', 'boolean', path, look),
  string: (value, def, path, look) => checked(value, typeof value === 'string', def, path, look),
  number(value, def, path, look) {
    if (typeof value === 'number' && !isFinite(value)) return expect(value, false, 'finite number', path, look);
    if (def.isInteger && typeof value === 'number' && !isSafeInteger(value)) return expect(value, false, 'integer', path, look);
    return checked(value, typeof value === 'number', def, path, look);
  },
  never: (value, def, path, look) => expect(value, false, 'nothing', path, look),
  enum: (value, def, path, look) => oneOf(value, def.values, path, look),
  literal: (value, def, path, look) => oneOf(value, def.values, path, look),
  array(value, def, path, look) {
    if (!isArray(value)) return expect(value, false, 'array', path, look);
    const items = newList();
    for (let i = 0; i < value.length; i++) push(items, read(def.element, value[i], within(path, i), look));
    return checked(toArray(items), true, def, path, look);
  },
  tuple(value, def, path, look) {
    if (!isArray(value)) return expect(value, false, 'array', path, look);
    if (def.rest === undefined && value.length > def.items.length) say(look, path, 'must have at most ' + def.items.length + ' items');
    const items = newList();
    for (let i = 0; i < value.length || i < def.items.length; i++) {
      const item = i < def.items.length ? def.items[i] : def.rest;
      if (item === undefined || (i >= value.length && mayBeMissing(item))) break;
      push(items, read(item, value[i], within(path, i), look));
    }
    return toArray(items);
  },
  object(value, def, path, look) {
    if (kindOf(value) !== 'object') return expect(value, false, 'object', path, look);
    const out = {};
    const names = objectKeys(def.shape);
    for (let i = 0; i < names.length; i++) {
      const field = def.shape[names[i]];
      const isThere = hasOwn(value, names[i]);
      if (!isThere && field.kind === 'any') say(look, within(path, names[i]), 'is missing');
      const found = read(field, isThere ? value[names[i]] : undefined, within(path, names[i]), look);
      if (found !== undefined || isThere) setField(out, names[i], found);
    }
    if (def.others === undefined) return out;
    const given = objectKeys(value);
    for (let i = 0; i < given.length; i++) {
      if (hasOwn(def.shape, given[i])) continue;
      if (def.others.kind === 'never') say(look, within(path, given[i]), 'is not a known field');
      else setField(out, given[i], read(def.others, value[given[i]], within(path, given[i]), look));
    }
    return out;
  },
  record(value, def, path, look) {
    if (kindOf(value) !== 'object') return expect(value, false, 'object', path, look);
    const out = {};
    const given = objectKeys(value);
    for (let i = 0; i < given.length; i++) {
      read(def.key, given[i], within(path, given[i]), look);
      setField(out, given[i], read(def.value, value[given[i]], within(path, given[i]), look));
    }
    const needed = def.isPartial ? undefined : keyValues(def.key);
    for (let i = 0; needed !== undefined && i < needed.length; i++) {
      if (!hasOwn(value, needed[i])) say(look, within(path, needed[i]), 'is missing');
    }
    return out;
  },
  union(value, def, path, look) {
    for (let i = 0; i < def.options.length; i++) {
      const alone = { __proto__: null, issues: newList() };
      const out = read(def.options[i], value, path, alone);
      if (alone.issues.length === 0) return out;
    }
    say(look, path, 'fits none of the ' + def.options.length + ' alternatives');
    return value;
  },
  nullable: (value, def, path, look) => (value === null ? null : read(def.inner, value, path, look)),
  optional: (value, def, path, look) => (value === undefined && !hasStandIn(def.inner) ? undefined : read(def.inner, value, path, look)),
  default: (value, def, path, look) => (value === undefined ? def.value() : read(def.inner, value, path, look)),
  readonly: (value, def, path, look) => read(def.inner, value, path, look),
};

/** Whether a default takes the place of what is missing. */
const hasStandIn = (def) => def.kind === 'default' || (def.inner !== undefined && hasStandIn(def.inner));
const expect = (value, fits, wanted, path, look) => {
  if (!fits) say(look, path, value === undefined ? 'is missing: ' + wanted + ' expected' : wanted + ' expected, not ' + kindOf(value));
  return value;
};
const oneOf = (value, values, path, look) => {
  if (!includes(values, value)) say(look, path, 'must be ' + (values.length === 1 ? '' : 'one of ') + list(values));
  return value;
};
const checked = (value, fits, def, path, look) => {
  expect(value, fits, def.kind, path, look);
  for (let i = 0; fits && i < def.checks.length; i++) {
    const wrong = checkers[def.kind](value, def.checks[i]);
    if (wrong !== undefined) say(look, path, wrong);
  }
  return value;
};
const read = (def, value, path, look) => readers[def.kind](value, def, path, look);

/** `{ value, issues }`; without issues the value is what the schema promises. */
export const readValue = (def, value) => {
  const look = { __proto__: null, issues: newList() };
  const out = read(def, value, undefined, look);
  return { __proto__: null, value: out, issues: toArray(look.issues) };
};
