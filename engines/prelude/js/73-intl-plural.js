// Intl.PluralRules, ListFormat and RelativeTimeFormat.

/** The cardinal category of a number as it is written: digits before and after the point. */
function pluralCategory(language, whole, fraction) {
  const one = whole === '1' && fraction === '';
  if (language === 'ja') return 'other';
  if (language === 'fr' || language === 'pt') {
    if (whole === '0' || whole === '1') return 'one';
  } else if (language === 'es' || language === 'it' || language === 'en' || language === 'de') {
    if (language === 'es' ? whole === '1' && isZeros(fraction) : one) return 'one';
  }
  const romance = language === 'fr' || language === 'es' || language === 'it' || language === 'pt';
  return romance && fraction === '' && whole.length > 6 && isZeros(slice(whole, -6)) ? 'many' : 'other';
}
const isZeros = (text) => {
  for (let i = 0; i < text.length; i++) if (text[i] !== '0') return false;
  return true;
};

function ordinalCategory(language, whole, fraction) {
  if (fraction !== '') return 'other';
  const tens = +slice(whole, -2);
  const last = tens % 10;
  if (language === 'en') {
    if (last === 1 && tens !== 11) return 'one';
    if (last === 2 && tens !== 12) return 'two';
    return last === 3 && tens !== 13 ? 'few' : 'other';
  }
  if (language === 'fr') return whole === '1' ? 'one' : 'other';
  if (language === 'it') return whole === '8' || whole === '11' || whole === '80' || whole === '800' ? 'many' : 'other';
  return 'other';
}

const PLURAL_CATEGORIES = { __proto__: null, cardinal: { __proto__: null, ja: 'other', fr: 'one many other', es: 'one many other', it: 'one many other', pt: 'one many other' },
  ordinal: { __proto__: null, en: 'few one two other', fr: 'one other', it: 'many other', ja: 'other', de: 'other', es: 'other', pt: 'other' } };

makeIntlClass('PluralRules', false, (locales, given) => {
  const locale = chooseLocale(locales);
  const options = readOptions(given);
  const type = textOption(options, 'type', 'cardinal ordinal', 'cardinal');
  return { __proto__: null, locale, type, digits: readDigits(options, 0, 3, false) };
}, (recordOf) => ({
  select(value) {
    const rules = recordOf(this);
    const decimal = toDecimal(+value);
    if (decimal.special !== undefined) return 'other';
    const applied = applyDigits(decimal, rules.digits);
    const shown = decimalParts(applied.decimal, rules.digits.leastWhole, applied.leastFraction);
    return (rules.type === 'ordinal' ? ordinalCategory : pluralCategory)(rules.locale.language, shown.whole, shown.fraction);
  },
  resolvedOptions() {
    const { locale, type, digits } = recordOf(this);
    return { locale: locale.base, type, minimumIntegerDigits: digits.leastWhole, minimumFractionDigits: digits.leastFraction,
      maximumFractionDigits: digits.mostFraction, pluralCategories: toArray(split(PLURAL_CATEGORIES[type][locale.language] ?? 'one other', ' ')),
      roundingIncrement: 1, roundingMode: digits.mode, roundingPriority: 'auto', trailingZeroDisplay: digits.trailing };
  },
}));

/** Per language: the words for "and" and "or", and whether a comma stands before them. */
const LIST_WORDS = { __proto__: null, en: ['and', 'or', ','], de: ['und', 'oder', ''], fr: ['et', 'ou', ''], es: ['y', 'o', ''], it: ['e', 'o', ''], pt: ['e', 'ou', ''] };

function listParts(record, items) {
  const parts = newList();
  const { language, region } = record.locale;
  const words = LIST_WORDS[language];
  const comma = words === undefined ? '、' : record.type === 'unit' && record.style === 'narrow' ? ' ' : ', ';
  let word = words === undefined ? '' : record.type === 'disjunction' ? words[1] : words[0];
  if (language === 'en' && record.type === 'conjunction' && record.style === 'short' && region !== 'GB' && region !== 'IN') word = '&';
  if (language === 'en' && record.type === 'conjunction' && record.style === 'narrow' && region !== 'GB' && region !== 'IN') word = '';
  if (record.type === 'unit' && !(record.style === 'long' && language !== 'en')) word = '';
  const oxford = language === 'en' && region !== 'GB' && region !== 'IN';
  for (let i = 0; i < items.length; i++) {
    if (i > 0) {
      let between = comma;
      if (i === items.length - 1) {
        if (words === undefined) between = record.type === 'disjunction' ? '、または' : record.type === 'unit' ? (record.style === 'narrow' ? '' : ' ') : '、';
        else if (word !== '') between = oxford && items.length > 2 ? ', ' + word + ' ' : ' ' + word + ' ';
      }
      addPart(parts, 'literal', between);
    }
    push(parts, { __proto__: null, type: 'element', value: items[i] });
  }
  return parts;
}

function readList(list) {
  const items = newList();
  if (list === undefined) return items;
  for (const item of list) {
    if (typeof item !== 'string') throw new TypeError('Iterable yielded a value that is not a string');
    push(items, item);
  }
  return items;
}

makeIntlClass('ListFormat', false, (locales, given) => {
  const options = readOptions(given);
  return { __proto__: null, locale: chooseLocale(locales), type: textOption(options, 'type', 'conjunction disjunction unit', 'conjunction'),
    style: textOption(options, 'style', 'long short narrow', 'long') };
}, (recordOf) => ({
  format(list) { return partsToText(listParts(recordOf(this), readList(list))); },
  formatToParts(list) { return partsToArray(listParts(recordOf(this), readList(list))); },
  resolvedOptions() {
    const { locale, type, style } = recordOf(this);
    return { locale: locale.base, type, style };
  },
}));

const RELATIVE_UNITS = { __proto__: null, second: ['sec', 's'], minute: ['min', 'm'], hour: ['hr', 'h'], day: ['day', 'd'], week: ['wk', 'w'], month: ['mo', 'mo'],
  quarter: ['qtr', 'q'], year: ['yr', 'y'] };
const RELATIVE_WORDS = { __proto__: null, second: ['', 'now', ''], minute: ['', 'this minute', ''], hour: ['', 'this hour', ''], day: ['yesterday', 'today', 'tomorrow'],
  week: ['last week', 'this week', 'next week'], month: ['last month', 'this month', 'next month'], quarter: ['last quarter', 'this quarter', 'next quarter'],
  year: ['last year', 'this year', 'next year'] };

function relativeParts(record, value, unit) {
  const number = +value;
  if (!isFinite(number)) throw new RangeError('Invalid time value');
  let name = toText(unit);
  if (endsWith(name, 's')) name = slice(name, 0, -1);
  if (RELATIVE_UNITS[name] === undefined) throw new RangeError('Invalid unit argument for format() \'' + unit + '\'');
  const parts = newList();
  if (record.numeric === 'auto' && (number === 0 || number === 1 || number === -1)) {
    const word = RELATIVE_WORDS[name][number + 1];
    if (word !== '') {
      const short = record.style === 'long' ? name : RELATIVE_UNITS[name][0];
      addPart(parts, 'literal', record.style === 'long' || name === 'day' || name === 'second' || name === 'minute' || name === 'hour' ? word
        : replaceAll(word, name, short + '.'));
      return parts;
    }
  }
  const past = number < 0 || sameValue(number, -0);
  const core = formatNumberParts(abs(number), record.numbers);
  const plural = numberCore(toDecimal(abs(number)), record.numbers).plural;
  let label = name;
  if (record.style !== 'long') {
    const short = RELATIVE_UNITS[name][record.style === 'short' ? 0 : 1];
    label = record.style === 'narrow' ? short : name === 'day' ? 'day' : short + '.';
  }
  if (record.style === 'long' || (record.style === 'short' && name === 'day')) label += plural === 'one' ? '' : 's';
  else if (record.style === 'short' && name === 'quarter') label = plural === 'one' ? 'qtr.' : 'qtrs.';
  if (!past) addPart(parts, 'literal', 'in ');
  for (let i = 0; i < core.length; i++) push(parts, { __proto__: null, type: core[i].type, value: core[i].value, unit: name });
  addPart(parts, 'literal', '' + (record.style === 'narrow' ? '' : ' ') + label + (past ? ' ago' : ''));
  return parts;
}

makeIntlClass('RelativeTimeFormat', false, (locales, given) => {
  const options = readOptions(given);
  const locale = chooseLocale(locales);
  return { __proto__: null, locale, style: textOption(options, 'style', 'long short narrow', 'long'), numeric: textOption(options, 'numeric', 'always auto', 'always'),
    numbers: resolveNumberFormat(locale.base, undefined) };
}, (recordOf) => ({
  format(value, unit) { return partsToText(relativeParts(recordOf(this), value, unit)); },
  formatToParts(value, unit) {
    const parts = relativeParts(recordOf(this), value, unit);
    const list = newList();
    for (let i = 0; i < parts.length; i++) {
      push(list, parts[i].unit === undefined ? { type: parts[i].type, value: parts[i].value } : { type: parts[i].type, value: parts[i].value, unit: parts[i].unit });
    }
    return toArray(list);
  },
  resolvedOptions() {
    const { locale, style, numeric } = recordOf(this);
    return { locale: locale.base, style, numeric, numberingSystem: 'latn' };
  },
}));
