// Intl, the ground: locales, their data, and how options are read. Always ours, so that every engine and every host
// gives the same text. The default locale is en-US and the default time zone is UTC.

const DEFAULT_LOCALE = 'en-US';
const NBSP = '\u00a0';
const NARROW_NBSP = '\u202f';

/** Number conventions from the CLDR. `symbols` lists what differs from the currency code. */
const numberLocales = {
  __proto__: null,
  'en': { decimal: '.', group: ',', minGrouping: 1, secondary: 3, percentGap: '', before: true, gap: '', accounting: true,
    symbols: 'USD $ EUR € GBP £ JPY ¥ CNY CN¥ INR ₹ BRL R$ CAD CA$ AUD A$ NZD NZ$ MXN MX$ KRW ₩ HKD HK$ TWD NT$ ILS ₪ VND ₫ PHP ₱',
    compact: [[4, 3, 'K', ' thousand', ' thousand'], [7, 6, 'M', ' million', ' million'], [10, 9, 'B', ' billion', ' billion'], [13, 12, 'T', ' trillion', ' trillion']] },
  'de': { decimal: ',', group: '.', minGrouping: 1, secondary: 3, percentGap: NBSP, before: false, gap: NBSP, accounting: false,
    symbols: 'USD $ EUR € GBP £ JPY ¥ CNY CN¥ INR ₹ BRL R$ CAD CA$ AUD AU$ NZD NZ$ MXN MX$ KRW ₩ HKD HK$ TWD NT$ ILS ₪ THB ฿ VND ₫',
    compact: [[4, 3, '', ' Tausend', ' Tausend'], [7, 6, NBSP + 'Mio.', ' Million', ' Millionen'], [10, 9, NBSP + 'Mrd.', ' Milliarde', ' Milliarden'], [13, 12, NBSP + 'Bio.', ' Billion', ' Billionen']] },
  'fr': { decimal: ',', group: NARROW_NBSP, minGrouping: 1, secondary: 3, percentGap: NBSP, before: false, gap: NBSP, accounting: true,
    symbols: 'USD $US EUR € GBP £GB INR ₹ BRL R$ CAD $CA AUD $AU NZD $NZ MXN $MX KRW ₩ SGD $SG ILS ₪ VND ₫',
    compact: [[4, 3, NBSP + 'k', ' millier', ' mille'], [7, 6, NBSP + 'M', ' million', ' millions'], [10, 9, NBSP + 'Md', ' milliard', ' milliards'], [13, 12, NBSP + 'Bn', ' billion', ' billions']] },
  'es': { decimal: ',', group: '.', minGrouping: 2, secondary: 3, percentGap: NBSP, before: false, gap: NBSP, accounting: false,
    symbols: 'USD US$ EUR € THB ฿ VND ₫',
    compact: [[4, 3, NBSP + 'mil', ' mil', ' mil'], [7, 6, NBSP + 'M', ' millón', ' millones'], [11, 9, NBSP + 'mil' + NBSP + 'M', ' mil millones', ' mil millones'], [13, 12, NBSP + 'B', ' billón', ' billones']] },
  'it': { decimal: ',', group: '.', minGrouping: 2, secondary: 3, percentGap: '', before: false, gap: NBSP, accounting: false,
    symbols: 'EUR € GBP £ CNY CN¥ CAD CA$ AUD A$ NZD NZ$ ILS ₪ THB ฿ PHP ₱',
    compact: [[4, 3, 'K', ' mila', ' mila'], [7, 6, NBSP + 'Mln', ' milione', ' milioni'], [10, 9, NBSP + 'Mld', ' miliardo', ' miliardi'], [13, 12, NBSP + 'Bln', ' mille miliardi', ' mila miliardi']] },
  'ja': { decimal: '.', group: ',', minGrouping: 1, secondary: 3, percentGap: '', before: true, gap: '', accounting: true,
    symbols: 'USD $ EUR € GBP £ JPY ￥ CNY 元 INR ₹ BRL R$ CAD CA$ AUD A$ NZD NZ$ MXN MX$ KRW ₩ HKD HK$ TWD NT$ ILS ₪ VND ₫',
    compact: [[5, 4, '万', '万', '万'], [9, 8, '億', '億', '億'], [13, 12, '兆', '兆', '兆']] },
  'pt': { decimal: ',', group: '.', minGrouping: 1, secondary: 3, percentGap: '', before: true, gap: NBSP, accounting: false,
    symbols: 'USD US$ EUR € GBP £ JPY JP¥ CNY CN¥ INR ₹ BRL R$ CAD CA$ AUD AU$ NZD NZ$ MXN MX$ KRW ₩ HKD HK$ TWD NT$ ILS ₪ THB ฿ VND ₫',
    compact: [[4, 3, NBSP + 'mil', ' mil', ' mil'], [7, 6, NBSP + 'mi', ' milhão', ' milhões'], [10, 9, NBSP + 'bi', ' bilhão', ' bilhões'], [13, 12, NBSP + 'tri', ' trilhão', ' trilhões']] },
};
numberLocales['en-GB'] = { ...numberLocales.en, symbols: numberLocales.en.symbols + ' USD US$ JPY JP¥',
  compact: [[4, 3, 'k', ' thousand', ' thousand'], [7, 6, 'm', ' million', ' million'], [10, 9, 'bn', ' billion', ' billion'], [13, 12, 'tn', ' trillion', ' trillion']] };
numberLocales['en-IN'] = { ...numberLocales.en, secondary: 2, symbols: numberLocales.en.symbols + ' JPY JP¥',
  compact: [[4, 3, 'K', ' thousand', ' thousand'], [6, 5, 'L', NARROW_NBSP + 'lakh', NARROW_NBSP + 'lakh'], [8, 7, 'Cr', NARROW_NBSP + 'crore', NARROW_NBSP + 'crore'],
    [11, 10, 'KCr', NARROW_NBSP + 'thousand crore', NARROW_NBSP + 'thousand crore'], [13, 12, 'LCr', NARROW_NBSP + 'lakh' + NARROW_NBSP + 'crore', NARROW_NBSP + 'lakh' + NARROW_NBSP + 'crore']] };

const isLetters = (text) => {
  for (let i = 0; i < text.length; i++) if (!isAlpha(charCodeAt(text, i))) return false;
  return true;
};
const isAlphanumeric = (text) => {
  for (let i = 0; i < text.length; i++) if (!isAlpha(charCodeAt(text, i)) && !isDigit(charCodeAt(text, i))) return false;
  return true;
};

/** `en-us` as `en-US`, with its parts; a RangeError when it is no language tag. */
function parseLocale(tag) {
  const wrong = () => new RangeError('Incorrect locale information provided: ' + tag);
  const subtags = split(tag, '-');
  const language = toLowerCase(subtags[0]);
  if (!isLetters(language) || language.length < 2 || language.length > 8 || language.length === 4) throw wrong();
  const parsed = { __proto__: null, language, script: undefined, region: undefined, extensions: { __proto__: null }, base: language, tag: language };
  let i = 1;
  for (; i < subtags.length && subtags[i].length > 1; i++) {
    const subtag = subtags[i];
    if (subtag.length > 8 || !isAlphanumeric(subtag)) throw wrong();
    if (subtag.length === 4 && isLetters(subtag) && parsed.script === undefined && parsed.region === undefined) {
      parsed.script = toUpperCase(subtag[0]) + toLowerCase(slice(subtag, 1));
      parsed.base += '-' + parsed.script;
    } else if ((subtag.length === 2 && isLetters(subtag)) || (subtag.length === 3 && !isNaN(+subtag))) {
      if (parsed.region !== undefined) throw wrong();
      parsed.region = toUpperCase(subtag);
      parsed.base += '-' + parsed.region;
    } else if (subtag.length >= 5 || (subtag.length === 4 && isDigit(charCodeAt(subtag, 0)))) parsed.base += '-' + toLowerCase(subtag);
    else throw wrong();
  }
  parsed.tag = parsed.base;
  let key;
  for (; i < subtags.length; i++) {
    const subtag = toLowerCase(subtags[i]);
    if (subtag === '' || subtag.length > 8 || !isAlphanumeric(subtag)) throw wrong();
    if (subtag.length === 1 && i + 1 >= subtags.length) throw wrong();
    parsed.tag += '-' + subtag;
    if (subtag.length === 2) {
      key = subtag;
      parsed.extensions[key] = '';
    } else if (key !== undefined && subtag.length > 2) parsed.extensions[key] += '' + (parsed.extensions[key] === '' ? '' : '-') + subtag;
  }
  return parsed;
}

/** The guest's `locales` argument as a list of parsed locales. */
function readLocales(locales) {
  const list = newList();
  if (locales === undefined) return list;
  const add = (given) => {
    if (typeof given !== 'string' && !isObject(given)) throw new TypeError('Incorrect locale information provided');
    const parsed = parseLocale(toText(given));
    for (let i = 0; i < list.length; i++) if (list[i].tag === parsed.tag) return;
    push(list, parsed);
  };
  if (typeof locales === 'string' || isLocaleObject(locales)) add(locales);
  else {
    if (locales === null) throw new TypeError('Cannot convert undefined or null to object');
    const source = Object(locales);
    const length = min(max(0, trunc(+source.length) || 0), 1_000);
    for (let i = 0; i < length; i++) if (i in source) add(source[i]);
  }
  return list;
}

const isKnownLanguage = (parsed) => numberLocales[parsed.language] !== undefined;
/** The first locale with data, or the default. */
function chooseLocale(locales) {
  const list = readLocales(locales);
  for (let i = 0; i < list.length; i++) if (isKnownLanguage(list[i])) return list[i];
  return parseLocale(DEFAULT_LOCALE);
}
const localeData = (table, locale) => table[(locale.language + '-' + locale.region)] ?? table[locale.language] ?? table.en;

function supportedLocalesOf(locales) {
  const list = readLocales(locales);
  const supported = newList();
  for (let i = 0; i < list.length; i++) if (isKnownLanguage(list[i])) push(supported, list[i].tag);
  return toArray(supported);
}

/** Reads one option as text among `choices` (a text with spaces between), or any text without choices. */
function textOption(options, name, choices, otherwise) {
  const given = options[name];
  if (given === undefined) return otherwise;
  const text = toText(given);
  if (choices !== undefined && listIndexOf(split(choices, ' '), text) === -1) {
    throw new RangeError('Value ' + text + ' out of range for Intl options property ' + name);
  }
  return text;
}
function numberOption(options, name, least, most, otherwise) {
  const given = options[name];
  if (given === undefined) return otherwise;
  const number = +given;
  if (!(number >= least && number <= most)) throw new RangeError(name + ' value is out of range.');
  return floor(number);
}
const flagOption = (options, name, otherwise) => (options[name] === undefined ? otherwise : Boolean(options[name]));
const noOptions = freeze({ __proto__: null });
const readOptions = (options) => {
  if (options === undefined) return noOptions;
  if (options === null) throw new TypeError('Cannot convert undefined or null to object');
  return Object(options);
};

const guestIntl = {};
/**
 * Makes one `Intl` constructor. `resolve(locales, options)` gives the inner record; `callable` ones work without `new`.
 * The returned function gives the record of an object, or throws.
 */
function makeIntlClass(name, callable, resolve, methods, getters = {}) {
  const records = new WeakMap();
  const Class = {
    [name]: function (locales, options) {
      if (new.target === undefined && !callable) throw new TypeError('Constructor Intl.' + name + ' requires \'new\'');
      const self = new.target === undefined ? create(Class.prototype) : this;
      weakMapSet(records, self, resolve(locales, options));
      return self;
    },
  }[name];
  const recordOf = (self) => {
    const record = isObject(self) ? weakMapGet(records, self) : undefined;
    if (record === undefined) throw new TypeError('Method called on an object that is not an Intl.' + name);
    return record;
  };
  const shown = methods(recordOf);
  const names = ownKeys(shown);
  for (let i = 0; i < names.length; i++) defineHidden(Class.prototype, names[i], shown[names[i]]);
  const gotten = ownKeys(getters);
  for (let i = 0; i < gotten.length; i++) {
    const make = getters[gotten[i]];
    const getter = getOwnPropertyDescriptor({ get [gotten[i]]() {
      const record = recordOf(this);
      record.bound ??= make(record);
      return record.bound;
    } }, gotten[i]);
    defineProperty(Class.prototype, gotten[i], { __proto__: null, get: getter.get, set: undefined, enumerable: false, configurable: true });
  }
  defineProperty(Class, 'length', { __proto__: null, value: 0, writable: false, enumerable: false, configurable: true });
  defineProperty(Class, 'prototype', { __proto__: null, writable: false });
  defineHidden(Class, 'supportedLocalesOf', { supportedLocalesOf(locales) { return supportedLocalesOf(locales); } }.supportedLocalesOf);
  defineProperty(Class.prototype, symbolToStringTag, { __proto__: null, value: 'Intl.' + name, writable: false, enumerable: false, configurable: true });
  defineHidden(guestIntl, name, Class);
  return recordOf;
}

/** Parts of a formatted text, as `formatToParts` gives them. */
const partsToArray = (parts) => {
  const list = newList();
  for (let i = 0; i < parts.length; i++) push(list, { type: parts[i].type, value: parts[i].value });
  return toArray(list);
};
const partsToText = (parts) => {
  let text = '';
  for (let i = 0; i < parts.length; i++) text += parts[i].value;
  return text;
};
const addPart = (parts, type, value) => { if (value !== '') push(parts, { __proto__: null, type, value }); };
