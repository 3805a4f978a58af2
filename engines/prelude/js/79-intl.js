// Intl, the namespace, and the `toLocale…` methods of the language that lead to it.

const localeObjects = new WeakMap();
const isLocaleObject = (value) => isObject(value) && weakMapHas(localeObjects, value);

class Locale {
  constructor(tag, options = undefined) {
    if (typeof tag !== 'string' && !isObject(tag)) throw new TypeError('First argument to Intl.Locale constructor can\'t be empty or missing');
    const parsed = parseLocale(toText(tag));
    const given = readOptions(options);
    const language = textOption(given, 'language', undefined, parsed.language);
    const script = textOption(given, 'script', undefined, parsed.script);
    const region = textOption(given, 'region', undefined, parsed.region);
    const extensions = slice(parsed.tag, parsed.base.length);
    const base = '' + language + (script === undefined ? '' : '-' + script) + (region === undefined ? '' : '-' + region);
    weakMapSet(localeObjects, this, parseLocale(base + extensions));
  }
  get baseName() { return localeOf(this).base; }
  get language() { return localeOf(this).language; }
  get script() { return localeOf(this).script; }
  get region() { return localeOf(this).region; }
  get hourCycle() { return localeOf(this).extensions.hc; }
  get calendar() { return localeOf(this).extensions.ca; }
  get numberingSystem() { return localeOf(this).extensions.nu; }
  toString() { return localeOf(this).tag; }
}
const localeOf = (value) => {
  const parsed = isObject(value) ? weakMapGet(localeObjects, value) : undefined;
  if (parsed === undefined) throw new TypeError('Method called on an object that is not an Intl.Locale');
  return parsed;
};
defineProperty(Locale.prototype, symbolToStringTag, { __proto__: null, value: 'Intl.Locale', writable: false, enumerable: false, configurable: true });
defineHidden(guestIntl, 'Locale', Locale);

defineHidden(guestIntl, 'getCanonicalLocales', {
  getCanonicalLocales(locales) {
    const list = readLocales(locales);
    const tags = newList();
    for (let i = 0; i < list.length; i++) push(tags, list[i].tag);
    return toArray(tags);
  },
}.getCanonicalLocales);
defineProperty(guestIntl, symbolToStringTag, { __proto__: null, value: 'Intl', writable: false, enumerable: false, configurable: true });
defineGlobal('Intl', guestIntl);

const defaultCollator = resolveCollator(undefined, undefined);
const dateText = (date, locales, options, required, defaults) => {
  const time = dateTime(date);
  if (isNaN(time)) return 'Invalid Date';
  return partsToText(formatDateParts(time, resolveDateFormat(locales, options, required, defaults)));
};
const localeMethods = [
  [Number.prototype, { toLocaleString(locales = undefined, options = undefined) {
    return partsToText(formatNumberParts(numberValueOf(this), resolveNumberFormat(locales, options)));
  } }],
  [BigInt.prototype, { toLocaleString(locales = undefined, options = undefined) {
    return partsToText(formatNumberParts(bigintValueOf(this), resolveNumberFormat(locales, options)));
  } }],
  [Date.prototype, {
    toLocaleString(locales = undefined, options = undefined) { return dateText(this, locales, options, 'any', 'all'); },
    toLocaleDateString(locales = undefined, options = undefined) { return dateText(this, locales, options, 'date', 'date'); },
    toLocaleTimeString(locales = undefined, options = undefined) { return dateText(this, locales, options, 'time', 'time'); },
  }],
  [Array.prototype, { toLocaleString(locales = undefined, options = undefined) { return localeList(Object(this), locales, options); } }],
  [TypedArrayPrototype, { toLocaleString(locales = undefined, options = undefined) {
    typedLength(this);
    return localeList(this, locales, options);
  } }],
  [String.prototype, { localeCompare(that, locales = undefined, options = undefined) {
    if (this === undefined || this === null) throw new TypeError('String.prototype.localeCompare called on null or undefined');
    return collate(locales === undefined && options === undefined ? defaultCollator : resolveCollator(locales, options), toText(this), toText(that));
  } }],
];
for (let i = 0; i < localeMethods.length; i++) {
  const methods = localeMethods[i][1];
  const names = ownKeys(methods);
  for (let j = 0; j < names.length; j++) {
    const arity = names[j] === 'localeCompare' ? 1 : 0;
    defineProperty(methods[names[j]], 'length', { __proto__: null, value: arity, writable: false, enumerable: false, configurable: true });
    defineHidden(localeMethods[i][0], names[j], methods[names[j]]);
  }
}

const openLists = newList(); // arrays being joined, so that one inside itself ends
function localeList(list, locales, options) {
  if (listIndexOf(openLists, list) !== -1) return '';
  push(openLists, list);
  try {
    const { length } = list;
    let text = '';
    for (let i = 0; i < length; i++) {
      const element = list[i];
      if (i > 0) text += ',';
      if (element !== undefined && element !== null) text += toText(element.toLocaleString(locales, options));
    }
    return text;
  } finally {
    openLists.length -= 1;
  }
}
