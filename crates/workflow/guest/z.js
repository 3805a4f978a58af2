// `z`: schemas as zod 4 writes them, as far as JSON can hold what they describe.

import { TypeError, freeze, isArray, jsonCopy, newList, push } from './capture.js';
import { FORMATS } from './z-formats.js';
import { keyValues, toJsonSchema } from './z-json.js';
import { readValue } from './z-parse.js';
import { ANY, NEVER, ArraySchema, check, definitionOf, eachKey, enumOf, inner, isSchema, listOf, make, schemasOf, shapeOf } from './z-schemas.js';

const string = () => make('string', { checks: newList() });
const number = () => make('number', { checks: newList(), isInteger: false });
const union = (options, what, exactlyOne) => {
  const defs = schemasOf(options, what);
  if (defs.length === 0) throw new TypeError(what + ' needs at least one schema');
  return make('union', { options: defs, exactlyOne });
};
const record = (key, value, isPartial) => {
  // With one schema the keys are any text.
  const keyDef = value === undefined ? definitionOf(string()) : inner(key, 'z.record()');
  const names = keyValues(keyDef);
  for (let i = 0; names !== undefined && i < names.length; i++) {
    if (typeof names[i] !== 'string') throw new TypeError('the keys of z.record() are texts');
  }
  if (names === undefined && keyDef.kind !== 'string') throw new TypeError('the keys of z.record() are texts: z.string(), z.enum([…]) or z.literal(…)');
  return make('record', { key: keyDef, value: inner(value ?? key, 'z.record()'), isPartial });
};
const LITERALS = { __proto__: null, string: true, number: true, boolean: true };
const literal = (given) => {
  const values = isArray(given) ? listOf(given) : listOf([given]);
  for (let i = 0; i < values.length; i++) {
    if (values[i] !== null && LITERALS[typeof values[i]] !== true) throw new TypeError('z.literal() needs a text, a number, a boolean or null');
  }
  if (values.length === 0) throw new TypeError('z.literal() needs at least one value');
  return make('literal', { values });
};

const formats = {};
eachKey(FORMATS, (name) => { formats[name] = () => check(string(), { check: 'format', value: name }); });
const { date, datetime, time, ...topFormats } = formats;

export const z = freeze({
  ...topFormats,
  iso: freeze({ date, datetime, time }),
  string,
  number,
  int: () => number().int(),
  boolean: () => make('boolean'),
  null: () => make('null'),
  any: () => make('any'),
  unknown: () => make('any'),
  never: () => make('never'),
  enum: enumOf,
  nativeEnum: enumOf,
  literal,
  object: (fields = {}) => make('object', { shape: shapeOf(fields), others: undefined }),
  strictObject: (fields) => make('object', { shape: shapeOf(fields), others: NEVER }),
  looseObject: (fields) => make('object', { shape: shapeOf(fields), others: ANY }),
  array: (element) => new ArraySchema({ __proto__: null, kind: 'array', element: inner(element, 'z.array()'), checks: newList() }),
  tuple: (items, rest) => make('tuple', { items: schemasOf(items, 'z.tuple()'), rest: rest === undefined || rest === null ? undefined : inner(rest, 'z.tuple()') }),
  record: (key, value) => record(key, value, false),
  partialRecord: (key, value) => record(key, value, true),
  union: (options) => union(options, 'z.union()', false),
  discriminatedUnion(field, options) {
    for (let i = 0; i < options.length; i++) {
      const def = inner(options[i], 'z.discriminatedUnion()');
      if (def.kind !== 'object' || keyValues(def.shape[field] ?? ANY) === undefined) {
        throw new TypeError('each part of z.discriminatedUnion() is an object whose `' + field + '` is a literal');
      }
    }
    return union(options, 'z.discriminatedUnion()', true);
  },
  optional: (schema) => make('optional', { inner: inner(schema, 'z.optional()') }),
  nullable: (schema) => make('nullable', { inner: inner(schema, 'z.nullable()') }),
  nullish: (schema) => make('optional', { inner: definitionOf(z.nullable(schema)) }),
  toJSONSchema: (schema) => jsonCopy(toJsonSchema(inner(schema, 'z.toJSONSchema()'))),
});

/** Whether a default can stand in somewhere in a value. */
const hasDefault = (def) => {
  if (def === undefined) return false;
  if (def.kind === 'default') return true;
  const some = (defs) => {
    for (let i = 0; defs !== undefined && i < defs.length; i++) if (hasDefault(defs[i])) return true;
    return false;
  };
  const fields = newList();
  if (def.kind === 'object') eachKey(def.shape, (name) => { push(fields, def.shape[name]); });
  return hasDefault(def.inner) || hasDefault(def.element) || hasDefault(def.rest) || hasDefault(def.others)
    || (def.kind === 'record' && hasDefault(def.value)) || some(def.items) || some(def.options) || some(fields);
};

/**
 * What the host found valid, with defaults where something is missing. It is not checked again: the host has the last word on
 * that, and has recorded it.
 */
export const fillDefaults = (schema, data) => {
  const def = definitionOf(schema);
  return hasDefault(def) ? readValue(def, data).value : data;
};
export const jsonSchemaOf = (schema) => toJsonSchema(definitionOf(schema));
export { isSchema };
