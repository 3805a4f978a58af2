// Schemas: what can be said about each kind of value.
//
// A schema is a frozen object around a definition (`kind` and what belongs to it); `z-json.js` and `z-parse.js` read
// definitions only. What JSON Schema cannot say (`refine`, `transform`) is left out: the host checks the answers of agents,
// and a rule that only looks enforced is worse than none.

import { Error, RegExp, TypeError, freeze, hasOwn, includes, isArray, isFinite, isObject, join, jsonCopy, newList, objectKeys, push, regExpFlags, regExpSource, setField, setHidden, toArray } from './capture.js';
import { FORMATS } from './z-formats.js';
import { toJsonSchema } from './z-json.js';
import { readValue } from './z-parse.js';

let definitionOf;
/** Whether a value is one of our schemas. */
export let isSchema;

const inner = (schema, what) => {
  if (!isSchema(schema)) throw new TypeError(what + ' needs a schema, e.g. z.string()');
  return definitionOf(schema);
};
const listOf = (values, what) => {
  if (!isArray(values)) throw new TypeError(what + ' needs a list');
  const copy = newList();
  for (let i = 0; i < values.length; i++) push(copy, values[i]);
  return copy;
};
const schemasOf = (values, what) => {
  const defs = listOf(values, what);
  for (let i = 0; i < defs.length; i++) defs[i] = inner(defs[i], what);
  return defs;
};
const eachKey = (holder, visit) => {
  const names = objectKeys(holder);
  for (let i = 0; i < names.length; i++) visit(names[i]);
};
const limit = (value, what) => {
  if (typeof value !== 'number' || !isFinite(value)) throw new TypeError(what + ' needs a number');
  return value;
};

export class Schema {
  #def;
  constructor(def) {
    this.#def = freeze(def);
    freeze(this);
  }
  static {
    definitionOf = (schema) => schema.#def;
    isSchema = (value) => isObject(value) && #def in value;
  }
  get description() { return this.#def.meta?.description; }
  /** A schema of the same class that says something more. */
  #with(more) { return wrap({ __proto__: null, ...this.#def, ...more }); }
  /** The same with one more check. */
  static check(schema, ...checks) {
    const all = newList();
    for (let i = 0; i < schema.#def.checks.length; i++) push(all, schema.#def.checks[i]);
    for (let i = 0; i < checks.length; i++) push(all, freeze(checks[i]));
    return schema.#with({ checks: all });
  }
  static change(schema, more) { return schema.#with(more); }
  describe(description) { return this.meta({ description }); }
  meta(fields) {
    if (!isObject(fields)) throw new TypeError('meta() needs an object');
    if (hasOwn(fields, 'id')) throw new TypeError('meta({ id }) is not supported: schemas are written out in full');
    return this.#with({ meta: freeze({ ...this.#def.meta, ...fields }) });
  }
  optional() { return make('optional', { inner: this.#def }); }
  nullable() { return make('nullable', { inner: this.#def }); }
  nullish() { return this.nullable().optional(); }
  default(value) { return make('default', { inner: this.#def, value: typeof value === 'function' ? value : () => value }); }
  readonly() { return make('readonly', { inner: this.#def }); }
  array() { return new ArraySchema({ __proto__: null, kind: 'array', element: this.#def, checks: newList() }); }
  or(other) { return make('union', { options: [this.#def, inner(other, 'or()')] }); }
  unwrap() {
    const kept = this.#def.inner ?? this.#def.element;
    if (kept === undefined) throw new TypeError('unwrap() is for schemas around another one');
    return wrap(kept);
  }
  safeParse(value) {
    const { value: data, issues } = readValue(this.#def, value);
    return issues.length === 0 ? { success: true, data } : { success: false, error: parseError(issues) };
  }
  parse(value) {
    const result = this.safeParse(value);
    if (!result.success) throw result.error;
    return result.data;
  }
  toJSONSchema() { return jsonCopy(toJsonSchema(this.#def)); }
}

const parseError = (issues) => {
  const lines = newList();
  for (let i = 0; i < issues.length; i++) push(lines, (issues[i].path.length > 0 ? join(issues[i].path, '.') + ': ' : '') + issues[i].message);
  const error = new Error(join(lines, '\n'));
  setHidden(error, 'name', 'ZodError');
  setField(error, 'issues', issues);
  return error;
};

const { check, change } = Schema;
delete Schema.check;
delete Schema.change;

const escaped = (text) => {
  let out = '';
  for (let i = 0; i < text.length; i++) out += (includes(SPECIAL, text[i]) ? '\\' : '') + text[i];
  return out;
};
const SPECIAL = ['.', '*', '+', '?', '^', '$', '{', '}', '(', ')', '|', '[', ']', '\\'];
const sizes = {
  min(length) { return check(this, { check: 'min', value: limit(length, 'min()') }); },
  max(length) { return check(this, { check: 'max', value: limit(length, 'max()') }); },
  length(length) { return check(this, { check: 'min', value: limit(length, 'length()') }, { check: 'max', value: length }); },
  nonempty() { return check(this, { check: 'min', value: 1 }); },
};

// Written out, because the constructor that a class has by itself may ask the iterator of arrays.
export class StringSchema extends Schema {
  constructor(def) { super(def); }
  regex(pattern, message) {
    // A copy, because a global expression remembers where it stopped.
    const flags = regExpFlags(pattern);
    let kept = '';
    for (let i = 0; i < flags.length; i++) if (flags[i] !== 'g' && flags[i] !== 'y') kept += flags[i];
    return check(this, { check: 'pattern', value: new RegExp(regExpSource(pattern), kept), message: typeof message === 'string' ? message : message?.message });
  }
  startsWith(text) { return check(this, { check: 'pattern', format: 'starts_with', value: new RegExp('^' + escaped(text) + '.*') }); }
  endsWith(text) { return check(this, { check: 'pattern', format: 'ends_with', value: new RegExp('.*' + escaped(text) + '$') }); }
  includes(text) { return check(this, { check: 'pattern', format: 'includes', value: new RegExp(escaped(text)) }); }
}
export class NumberSchema extends Schema {
  constructor(def) { super(def); }
  min(value) { return check(this, { check: 'min', value: limit(value, 'min()') }); }
  max(value) { return check(this, { check: 'max', value: limit(value, 'max()') }); }
  gt(value) { return check(this, { check: 'over', value: limit(value, 'gt()') }); }
  lt(value) { return check(this, { check: 'under', value: limit(value, 'lt()') }); }
  positive() { return this.gt(0); }
  negative() { return this.lt(0); }
  nonnegative() { return this.min(0); }
  nonpositive() { return this.max(0); }
  multipleOf(value) {
    if (limit(value, 'multipleOf()') === 0) throw new TypeError('multipleOf() needs a number other than 0');
    return check(this, { check: 'multiple', value });
  }
  int() { return change(check(this, { check: 'min', value: -INTEGER_MAX }, { check: 'max', value: INTEGER_MAX }), { isInteger: true }); }
  finite() { return this; }
}
const INTEGER_MAX = 2 ** 53 - 1;
const alias = (Class, name, of) => { setHidden(Class.prototype, name, Class.prototype[of]); };
alias(NumberSchema, 'gte', 'min');
alias(NumberSchema, 'lte', 'max');
alias(NumberSchema, 'step', 'multipleOf');
alias(NumberSchema, 'safe', 'int');

export class ArraySchema extends Schema {
  constructor(def) { super(def); }
  get element() { return wrap(definitionOf(this).element); }
}
eachKey(sizes, (name) => {
  setHidden(StringSchema.prototype, name, sizes[name]);
  setHidden(ArraySchema.prototype, name, sizes[name]);
});
// `.email()`, `.url()` and so on.
eachKey(FORMATS, (name) => {
  setHidden(StringSchema.prototype, name, function format() { return check(this, { check: 'format', value: name }); });
});

export class EnumSchema extends Schema {
  constructor(def) { super(def); }
  get options() { return toArray(definitionOf(this).values); }
  get enum() { return definitionOf(this).names; }
  exclude(values) { return only(this, (value) => !includes(values, value)); }
  extract(values) { return only(this, (value) => includes(values, value)); }
}
// Functions and not private methods: QuickJS puts the mark of a subclass on the instance, which is frozen by then.
const only = (schema, keep) => {
  const { values } = definitionOf(schema);
  const kept = newList();
  for (let i = 0; i < values.length; i++) if (keep(values[i])) push(kept, values[i]);
  return enumOf(toArray(kept));
};

export class ObjectSchema extends Schema {
  constructor(def) { super(def); }
  get shape() {
    const { shape } = definitionOf(this);
    const out = {};
    eachKey(shape, (name) => { setField(out, name, wrap(shape[name])); });
    return out;
  }
  extend(more) { return reshape(this, { __proto__: null, ...definitionOf(this).shape, ...shapeOf(more) }); }
  merge(other) { return this.extend(other.shape); }
  pick(mask) { return pickFields(this, knownFields(this, mask, 'pick()')); }
  omit(mask) {
    const left = knownFields(this, mask, 'omit()');
    return pickFields(this, (name) => !left(name));
  }
  partial(mask) {
    const changed = mask === undefined ? () => true : knownFields(this, mask, 'partial()');
    return pickFields(this, () => true, (def, name) => (changed(name) ? freeze({ __proto__: null, kind: 'optional', inner: def }) : def));
  }
  required() { return pickFields(this, () => true, (def) => (def.kind === 'optional' ? def.inner : def)); }
  keyof() { return enumOf(objectKeys(definitionOf(this).shape)); }
  strict() { return changeOthers(this, NEVER); }
  loose() { return changeOthers(this, ANY); }
  strip() { return changeOthers(this, undefined); }
  catchall(schema) { return changeOthers(this, inner(schema, 'catchall()')); }
}
alias(ObjectSchema, 'passthrough', 'loose');
const reshape = (schema, shape) => new ObjectSchema({ __proto__: null, kind: 'object', shape: freeze(shape), others: definitionOf(schema).others });
const pickFields = (schema, keep, changed = (def) => def) => {
  const { shape } = definitionOf(schema);
  const out = { __proto__: null };
  eachKey(shape, (name) => { if (keep(name)) setField(out, name, changed(shape[name], name)); });
  return reshape(schema, out);
};
/** Which fields a mask such as `{ name: true }` names. */
const knownFields = (schema, mask, what) => {
  eachKey(mask, (name) => { if (!hasOwn(definitionOf(schema).shape, name)) throw new TypeError(what + ': there is no field `' + name + '`'); });
  return (name) => hasOwn(mask, name) && mask[name] === true;
};
// As in zod, what was said about the object is not said of a changed one.
const changeOthers = (schema, others) => change(schema, { others, meta: undefined });
const ANY = freeze({ __proto__: null, kind: 'any' });
const NEVER = freeze({ __proto__: null, kind: 'never' });

const CLASSES = { __proto__: null, string: StringSchema, number: NumberSchema, array: ArraySchema, enum: EnumSchema, object: ObjectSchema };
const wrap = (def) => new (CLASSES[def.kind] ?? Schema)(def);
export const make = (kind, more) => wrap({ __proto__: null, kind, ...more });
export const shapeOf = (fields) => {
  if (!isObject(fields)) throw new TypeError('z.object() needs an object of schemas');
  const shape = { __proto__: null };
  eachKey(fields, (name) => { setField(shape, name, inner(fields[name], 'the field `' + name + '`')); });
  return freeze(shape);
};
export const enumOf = (given) => {
  const names = {};
  const values = newList();
  const keys = isArray(given) ? given : objectKeys(given);
  for (let i = 0; i < keys.length; i++) {
    const value = isArray(given) ? keys[i] : given[keys[i]];
    setField(names, keys[i], value);
    if (!includes(values, value)) push(values, value);
  }
  if (values.length === 0) throw new TypeError('z.enum() needs at least one value');
  return new EnumSchema({ __proto__: null, kind: 'enum', values, names: freeze(names) });
};
export { ANY, NEVER, check, definitionOf, eachKey, inner, listOf, schemasOf };
