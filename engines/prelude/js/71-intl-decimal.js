// Intl, decimals: numbers as decimal digits, rounded without the errors of binary arithmetic.

const ROUNDING_MODES = 'ceil floor expand trunc halfCeil halfFloor halfExpand halfTrunc halfEven';

/**
 * `digits` without leading or trailing zeros, and where the decimal point stands in them: 12.5 is '125' with point 2.
 * Zero has no digits. `special` is 'nan', 'infinity' or undefined.
 */
const makeDecimal = (negative, digits, point, special) => ({ __proto__: null, negative, digits, point, special });

function trimDecimal(decimal) {
  let { digits, point } = decimal;
  let from = 0;
  while (from < digits.length && digits[from] === '0') from += 1;
  let to = digits.length;
  while (to > from && digits[to - 1] === '0') to -= 1;
  digits = slice(digits, from, to);
  point = digits === '' ? 0 : point - from;
  return makeDecimal(decimal.negative, digits, point, decimal.special);
}

/** From a number, a bigint, or anything that converts to one. A decimal string keeps all its digits. */
function toDecimal(given) {
  let value = given;
  if (isObject(value)) value = value instanceof Date ? dateTime(value) : toPrimitiveNumber(value);
  if (typeof value === 'string') {
    const text = trim(value);
    if (isPlainDecimal(text)) return parseDecimal(text);
    value = Number(text);
  }
  if (typeof value === 'bigint') return parseDecimal(toText(value));
  const number = +value;
  if (isNaN(number)) return makeDecimal(false, '', 0, 'nan');
  if (!isFinite(number)) return makeDecimal(number < 0, '', 0, 'infinity');
  if (number === 0) return makeDecimal(sameValue(number, -0), '', 0, undefined);
  return parseDecimal(toText(number));
}
const toPrimitiveNumber = (value) => {
  const primitive = value[Symbol.toPrimitive] === undefined ? value.valueOf() : value;
  return typeof primitive === 'bigint' || typeof primitive === 'string' ? primitive : +value;
};

function isPlainDecimal(text) {
  let digits = 0;
  let points = 0;
  for (let i = 0; i < text.length; i++) {
    if (isDigit(charCodeAt(text, i))) digits += 1;
    else if (text[i] === '.') points += 1;
    else if (!(i === 0 && (text[i] === '-' || text[i] === '+'))) return false;
  }
  return digits > 0 && points <= 1;
}

function parseDecimal(text) {
  const negative = text[0] === '-';
  let from = negative || text[0] === '+' ? 1 : 0;
  const e = indexOf(text, 'e');
  const mantissa = slice(text, from, e === -1 ? text.length : e);
  const exponent = e === -1 ? 0 : +slice(text, e + 1);
  const dot = indexOf(mantissa, '.');
  const whole = dot === -1 ? mantissa : slice(mantissa, 0, dot);
  const fraction = dot === -1 ? '' : slice(mantissa, dot + 1);
  from = whole.length + exponent;
  return trimDecimal(makeDecimal(negative, whole + fraction, from, undefined));
}

/** Rounds to `places` digits after the decimal point; negative places round before it. */
function roundDecimal(decimal, places, mode) {
  const keep = decimal.point + places;
  if (decimal.digits === '' || keep >= decimal.digits.length) return decimal;
  const kept = keep > 0 ? slice(decimal.digits, 0, keep) : '';
  const dropped = keep >= 0 ? slice(decimal.digits, keep) : '01'; // less than a tenth of the last place
  if (!roundsUp(decimal.negative, kept, dropped, mode)) return trimDecimal(makeDecimal(decimal.negative, kept, kept === '' ? 0 : decimal.point, undefined));
  if (kept === '') return makeDecimal(decimal.negative, '1', 1 - places, undefined);
  const digits = increment(kept);
  return trimDecimal(makeDecimal(decimal.negative, digits, decimal.point + digits.length - kept.length, undefined));
}

function roundsUp(negative, kept, dropped, mode) {
  if (mode === 'trunc') return false;
  if (mode === 'expand') return true;
  if (mode === 'ceil') return !negative;
  if (mode === 'floor') return negative;
  const first = dropped[0];
  if (first !== '5' || dropped.length > 1) return first >= '5';
  if (mode === 'halfExpand') return true;
  if (mode === 'halfTrunc') return false;
  if (mode === 'halfCeil') return !negative;
  if (mode === 'halfFloor') return negative;
  return kept !== '' && (charCodeAt(kept, kept.length - 1) - 48) % 2 === 1;
}

function increment(digits) {
  let i = digits.length - 1;
  while (i >= 0 && digits[i] === '9') i -= 1;
  const tail = repeat('0', digits.length - 1 - i);
  if (i < 0) return '1' + tail;
  return '' + slice(digits, 0, i) + fromCharCode(charCodeAt(digits, i) + 1) + tail;
}

/** The digits before and after the point, padded to what is asked for. */
function decimalParts(decimal, leastWhole, leastFraction) {
  const { digits, point } = decimal;
  let whole = point <= 0 ? '' : padEnd(slice(digits, 0, point), point, '0');
  let fraction = point <= 0 ? (digits === '' ? '' : repeat('0', -point) + digits) : slice(digits, point);
  whole = padStart(whole, max(1, leastWhole), '0');
  fraction = padEnd(fraction, leastFraction, '0');
  return { __proto__: null, whole, fraction };
}

/** The digit options of NumberFormat and PluralRules. */
function readDigits(options, leastDefault, mostDefault, compact) {
  const digits = { __proto__: null, leastWhole: numberOption(options, 'minimumIntegerDigits', 1, 21, 1), leastFraction: 0, mostFraction: 0,
    leastSignificant: undefined, mostSignificant: undefined, compact: false };
  const givenLeast = options.minimumFractionDigits;
  const givenMost = options.maximumFractionDigits;
  const least = options.minimumSignificantDigits;
  const most = options.maximumSignificantDigits;
  digits.mode = textOption(options, 'roundingMode', ROUNDING_MODES, 'halfExpand');
  digits.trailing = textOption(options, 'trailingZeroDisplay', 'auto stripIfInteger', 'auto');
  if (least !== undefined || most !== undefined) {
    digits.leastSignificant = numberOption(options, 'minimumSignificantDigits', 1, 21, 1);
    digits.mostSignificant = numberOption(options, 'maximumSignificantDigits', digits.leastSignificant, 21, 21);
    return digits;
  }
  if (givenLeast === undefined && givenMost === undefined && compact) {
    digits.compact = true;
    return digits;
  }
  const leastFraction = numberOption(options, 'minimumFractionDigits', 0, 100, undefined);
  const mostFraction = numberOption(options, 'maximumFractionDigits', 0, 100, undefined);
  digits.leastFraction = leastFraction ?? min(leastDefault, mostFraction ?? leastDefault);
  digits.mostFraction = mostFraction ?? max(mostDefault, digits.leastFraction);
  if (digits.leastFraction > digits.mostFraction) throw new RangeError('maximumFractionDigits value is out of range.');
  return digits;
}

/** Rounds by the digit options; gives the decimal and how many fraction digits to show at least. */
function applyDigits(decimal, digits) {
  let rounded;
  let leastFraction;
  if (digits.mostSignificant !== undefined) {
    rounded = roundDecimal(decimal, digits.mostSignificant - decimal.point, digits.mode);
    leastFraction = max(0, digits.leastSignificant - (rounded.digits === '' ? 1 : rounded.point));
  } else if (digits.compact) {
    rounded = roundDecimal(decimal, max(0, 2 - decimal.point), digits.mode);
    leastFraction = 0;
  } else {
    rounded = roundDecimal(decimal, digits.mostFraction, digits.mode);
    leastFraction = digits.leastFraction;
  }
  if (digits.trailing === 'stripIfInteger' && rounded.digits.length <= rounded.point) leastFraction = 0;
  return { __proto__: null, decimal: rounded, leastFraction };
}
