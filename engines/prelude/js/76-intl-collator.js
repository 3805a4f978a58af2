// Intl.Collator: letters before case and accents, as people sort. The root order of the CLDR in short; there are no
// tailorings for single languages.

const DIACRITIC = /\p{M}/u;
const LETTER = /\p{L}/u;
const NUMBER = /\p{N}/u;
/** The order of ASCII punctuation and symbols in the root collation. */
const PUNCTUATION_ORDER = '_-,;:!?.\'"()[]{}@*/\\&#%`^+<=>|~$';

/** What a character weighs: its class, its base letter, its accents, its case. */
function collationElements(text, numeric) {
  const elements = newList();
  const decomposed = normalize(text, 'NFD');
  for (let i = 0; i < decomposed.length; i++) {
    const point = codePointAt(decomposed, i);
    if (point > 0xffff) i += 1;
    const letter = fromCodePoint(point);
    if (point > 0x7f && matches(DIACRITIC, letter)) {
      if (elements.length > 0) elements[elements.length - 1].accents += letter;
      continue;
    }
    if (numeric && isDigit(point)) {
      let end = i + 1;
      while (end < decomposed.length && isDigit(charCodeAt(decomposed, end))) end += 1;
      let from = i;
      while (from < end - 1 && decomposed[from] === '0') from += 1;
      const digits = slice(decomposed, from, end);
      push(elements, { __proto__: null, rank: 3, base: padStart(toText(digits.length), 8, '0') + digits, accents: '', upper: false });
      i = end - 1;
      continue;
    }
    const lower = toLowerCase(letter);
    pushElement(elements, letter, lower, point);
  }
  return elements;
}

function pushElement(elements, letter, lower, point) {
  const expansion = lower === 'ß' ? 'ss' : lower === 'æ' ? 'ae' : lower === 'œ' ? 'oe' : lower === 'ø' ? 'o' : lower === 'ł' ? 'l' : lower === 'đ' ? 'd' : undefined;
  if (expansion !== undefined) {
    for (let i = 0; i < expansion.length; i++) push(elements, { __proto__: null, rank: 4, base: expansion[i], accents: '\uffff', upper: letter !== lower });
    return;
  }
  let rank = 2;
  let base = lower;
  if (point === 9 || point === 10 || point === 13 || point === 32 || point === 0xa0) rank = 0;
  else if (point < 0x20 || (point >= 0x7f && point < 0xa0)) return; // ignored
  else if (isAlpha(point) || (point > 0x7f && matches(LETTER, letter))) rank = 4;
  else if (isDigit(point) || (point > 0x7f && matches(NUMBER, letter))) rank = 3;
  else {
    const at = point < 0x80 ? indexOf(PUNCTUATION_ORDER, letter) : -1;
    rank = 1;
    base = at === -1 ? '\uffff' + letter : fromCharCode(at);
  }
  push(elements, { __proto__: null, rank, base, accents: '', upper: letter !== lower });
}

const compareTexts = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

/** For each ASCII unit its place in the order; zero for what takes the long way. */
const asciiWeights = new Uint16Array(128);
for (let unit = 32; unit < 127; unit++) {
  const char = fromCharCode(unit);
  const place = indexOf(PUNCTUATION_ORDER, char);
  if (unit === 32) asciiWeights[unit] = 1;
  else if (isAlpha(unit)) asciiWeights[unit] = 1_000 + (unit | 32);
  else if (isDigit(unit)) asciiWeights[unit] = 500 + unit;
  else asciiWeights[unit] = 2 + place;
}

/** The order of two ASCII texts, without taking them apart; undefined when they are more than that. */
function collateAscii(x, y) {
  const length = min(x.length, y.length);
  let byCase = 0;
  for (let i = 0; i <= length; i++) {
    const a = i < x.length ? charCodeAt(x, i) : -1;
    const b = i < y.length ? charCodeAt(y, i) : -1;
    if (a > 126 || b > 126 || asciiWeights[a] === 0 || asciiWeights[b] === 0) return undefined;
    if (a === -1 || b === -1) return a === b ? byCase : a === -1 ? -1 : 1;
    const order = asciiWeights[a] - asciiWeights[b];
    if (order !== 0) return order < 0 ? -1 : 1;
    if (a !== b && byCase === 0) byCase = a > b ? -1 : 1;
  }
  return byCase;
}

function collate(collator, x, y) {
  if (x === y) return 0;
  if (collator.plain) {
    const order = collateAscii(x, y);
    if (order !== undefined) return order;
  }
  const a = significant(collationElements(x, collator.numeric), collator);
  const b = significant(collationElements(y, collator.numeric), collator);
  const length = min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const order = a[i].rank - b[i].rank || compareTexts(a[i].base, b[i].base);
    if (order !== 0) return signOf(order);
  }
  if (a.length !== b.length) return a.length < b.length ? -1 : 1;
  const { sensitivity } = collator;
  if (sensitivity === 'accent' || sensitivity === 'variant') {
    for (let i = 0; i < length; i++) {
      const order = compareTexts(a[i].accents, b[i].accents);
      if (order !== 0) return order;
    }
  }
  if (sensitivity === 'case' || sensitivity === 'variant') {
    for (let i = 0; i < length; i++) {
      if (a[i].upper !== b[i].upper) return a[i].upper === (collator.caseFirst === 'upper') ? -1 : 1;
    }
  }
  return 0;
}

function significant(elements, collator) {
  if (!collator.ignorePunctuation) return elements;
  const kept = newList();
  for (let i = 0; i < elements.length; i++) if (elements[i].rank >= 2) push(kept, elements[i]);
  return kept;
}

function resolveCollator(locales, given) {
  const locale = chooseLocale(locales);
  const options = readOptions(given);
  const collator = {
    __proto__: null, locale, bound: undefined, plain: false,
    usage: textOption(options, 'usage', 'sort search', 'sort'),
    sensitivity: textOption(options, 'sensitivity', 'base accent case variant', 'variant'),
    ignorePunctuation: flagOption(options, 'ignorePunctuation', false),
    numeric: flagOption(options, 'numeric', locale.extensions.kn !== undefined && locale.extensions.kn !== 'false'),
    caseFirst: textOption(options, 'caseFirst', 'upper lower false', 'false'),
  };
  collator.plain = collator.sensitivity === 'variant' && !collator.ignorePunctuation && !collator.numeric && collator.caseFirst !== 'upper';
  return collator;
}

makeIntlClass('Collator', true, resolveCollator, (recordOf) => ({
  resolvedOptions() {
    const { locale, usage, sensitivity, ignorePunctuation, numeric, caseFirst } = recordOf(this);
    return { locale: locale.base, usage, sensitivity, ignorePunctuation, collation: 'default', numeric, caseFirst };
  },
}), { compare: (collator) => (x, y) => collate(collator, toText(x), toText(y)) });
