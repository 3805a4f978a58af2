// Intl.NumberFormat.

const CURRENCY_DIGITS = { __proto__: null, JPY: 0, KRW: 0, VND: 0, CLP: 0, ISK: 0, UGX: 0, XAF: 0, XOF: 0, XPF: 0, PYG: 0, RWF: 0, VUV: 0, BIF: 0, DJF: 0,
  GNF: 0, KMF: 0, BHD: 3, IQD: 3, JOD: 3, KWD: 3, LYD: 3, OMR: 3, TND: 3, CLF: 4, UYW: 4 };
const NARROW_SYMBOLS = 'USD $ EUR € GBP £ JPY ¥ CNY ¥ INR ₹ BRL R$ CAD $ AUD $ NZD $ MXN $ KRW ₩ SEK kr NOK kr DKK kr PLN zł CZK Kč HUF Ft RUB ₽ TRY ₺ ZAR R ' +
  'SGD $ HKD $ TWD $ ILS ₪ THB ฿ VND ₫ PHP ₱ UAH ₴ NGN ₦ IDR Rp MYR RM';
const CURRENCY_NAMES = { __proto__: null, USD: 'US dollar', EUR: 'euro', GBP: 'British pound', JPY: 'Japanese yen=', CNY: 'Chinese yuan=', INR: 'Indian rupee',
  BRL: 'Brazilian real', CHF: 'Swiss franc', CAD: 'Canadian dollar', AUD: 'Australian dollar', NZD: 'New Zealand dollar', MXN: 'Mexican peso',
  KRW: 'South Korean won=', SEK: 'Swedish krona', NOK: 'Norwegian krone', DKK: 'Danish krone', PLN: 'Polish zloty', RUB: 'Russian ruble', TRY: 'Turkish lira',
  ZAR: 'South African rand=', SGD: 'Singapore dollar', HKD: 'Hong Kong dollar', ILS: 'Israeli new shekel', THB: 'Thai baht=' };
const IRREGULAR_PLURALS = { __proto__: null, 'Swedish krona': 'Swedish kronor', 'Norwegian krone': 'Norwegian kroner', 'Danish krone': 'Danish kroner',
  'Polish zloty': 'Polish zlotys', 'Turkish lira': 'Turkish Lira' };

/** English units: short text, narrow text, long text; `|` parts one from other, and a leading space is kept. */
const UNITS = {
  __proto__: null,
  'acre': [' ac', 'ac', ' acre| acres'], 'bit': [' bit', 'bit', ' bit| bits'], 'byte': [' byte', 'B', ' byte| bytes'],
  'kilobyte': [' kB', 'kB', ' kilobyte| kilobytes'], 'megabyte': [' MB', 'MB', ' megabyte| megabytes'], 'gigabyte': [' GB', 'GB', ' gigabyte| gigabytes'],
  'terabyte': [' TB', 'TB', ' terabyte| terabytes'], 'petabyte': [' PB', 'PB', ' petabyte| petabytes'], 'kilobit': [' kb', 'kb', ' kilobit| kilobits'],
  'megabit': [' Mb', 'Mb', ' megabit| megabits'], 'gigabit': [' Gb', 'Gb', ' gigabit| gigabits'], 'celsius': ['°C', '°C', ' degree Celsius| degrees Celsius'],
  'fahrenheit': ['°F', '°', ' degree Fahrenheit| degrees Fahrenheit'], 'degree': [' deg', '°', ' degree| degrees'], 'percent': ['%', '%', ' percent| percent'],
  'centimeter': [' cm', 'cm', ' centimeter| centimeters'], 'millimeter': [' mm', 'mm', ' millimeter| millimeters'], 'meter': [' m', 'm', ' meter| meters'],
  'kilometer': [' km', 'km', ' kilometer| kilometers'], 'inch': [' in', '″', ' inch| inches'], 'foot': [' ft', '′', ' foot| feet'], 'yard': [' yd', 'yd', ' yard| yards'],
  'mile': [' mi', 'mi', ' mile| miles'], 'gram': [' g', 'g', ' gram| grams'], 'kilogram': [' kg', 'kg', ' kilogram| kilograms'], 'ounce': [' oz', 'oz', ' ounce| ounces'],
  'pound': [' lb', '#', ' pound| pounds'], 'stone': [' st', 'st', ' stone| stones'], 'liter': [' L', 'L', ' liter| liters'], 'milliliter': [' mL', 'mL', ' milliliter| milliliters'],
  'gallon': [' gal', 'gal', ' gallon| gallons'], 'fluid-ounce': [' fl oz', 'fl oz', ' fluid ounce| fluid ounces'], 'hectare': [' ha', 'ha', ' hectare| hectares'],
  'nanosecond': [' ns', 'ns', ' nanosecond| nanoseconds'], 'microsecond': [' μs', 'μs', ' microsecond| microseconds'], 'millisecond': [' ms', 'ms', ' millisecond| milliseconds'],
  'second': [' sec', 's', ' second| seconds'], 'minute': [' min', 'm', ' minute| minutes'], 'hour': [' hr', 'h', ' hour| hours'], 'day': [' day| days', 'd', ' day| days'],
  'week': [' wk| wks', 'w', ' week| weeks'], 'month': [' mth| mths', 'm', ' month| months'], 'year': [' yr| yrs', 'y', ' year| years'],
  'kilometer-per-hour': [' km/h', 'km/h', ' kilometer per hour| kilometers per hour'], 'mile-per-hour': [' mph', 'mph', ' mile per hour| miles per hour'],
  'meter-per-second': [' m/s', 'm/s', ' meter per second| meters per second'], 'mile-per-gallon': [' mpg', 'mpg', ' mile per gallon| miles per gallon'],
};

function symbolIn(table, currency) {
  // Later entries replace earlier ones, which is how a region adjusts its language.
  const words = split(table, ' ');
  for (let i = words.length - 2; i >= 0; i -= 2) if (words[i] === currency) return words[i + 1];
  return undefined;
}

function resolveNumberFormat(locales, given) {
  const locale = chooseLocale(locales);
  const options = readOptions(given);
  const format = { __proto__: null, locale, data: localeData(numberLocales, locale), bound: undefined };
  format.style = textOption(options, 'style', 'decimal percent currency unit', 'decimal');
  const currency = textOption(options, 'currency', undefined, undefined);
  if (currency !== undefined && (currency.length !== 3 || !isLetters(currency))) throw new RangeError('Invalid currency code : ' + currency);
  if (format.style === 'currency') {
    if (currency === undefined) throw new TypeError('Currency code is required with currency style.');
    format.currency = toUpperCase(currency);
  }
  format.currencyDisplay = textOption(options, 'currencyDisplay', 'code symbol narrowSymbol name', 'symbol');
  format.currencySign = textOption(options, 'currencySign', 'standard accounting', 'standard');
  const unit = textOption(options, 'unit', undefined, undefined);
  if (unit !== undefined && !isUnit(unit)) throw new RangeError('Invalid unit argument for Intl.NumberFormat() \'' + unit + '\'');
  if (format.style === 'unit') {
    if (unit === undefined) throw new TypeError('Unit is required with unit style.');
    format.unit = unit;
  }
  format.unitDisplay = textOption(options, 'unitDisplay', 'short narrow long', 'short');
  format.notation = textOption(options, 'notation', 'standard scientific engineering compact', 'standard');
  const compact = format.notation === 'compact';
  const money = format.style === 'currency' && format.notation === 'standard' ? CURRENCY_DIGITS[format.currency] ?? 2 : undefined;
  format.digits = readDigits(options, money ?? 0, money ?? (format.style === 'percent' ? 0 : 3), compact);
  format.compactDisplay = textOption(options, 'compactDisplay', 'short long', 'short');
  format.grouping = readGrouping(options, compact);
  format.signDisplay = textOption(options, 'signDisplay', 'auto never always exceptZero negative', 'auto');
  return format;
}

const isUnit = (unit) => {
  if (UNITS[unit] !== undefined) return true;
  const per = indexOf(unit, '-per-');
  return per !== -1 && UNITS[slice(unit, 0, per)] !== undefined && UNITS[slice(unit, per + 5)] !== undefined;
};

function readGrouping(options, compact) {
  const given = options.useGrouping;
  if (given === undefined) return compact ? 'min2' : 'auto';
  if (given === true) return 'always';
  if (given === false || given === null || given === 0 || given === '') return false;
  const text = toText(given);
  if (text === 'true' || text === 'false') return compact ? 'min2' : 'auto';
  if (text !== 'always' && text !== 'auto' && text !== 'min2') throw new RangeError('Value ' + text + ' out of range for Intl.NumberFormat options property useGrouping');
  return text;
}

function addInteger(parts, whole, format) {
  const { data, grouping } = format;
  const least = grouping === 'always' ? 1 : grouping === 'min2' ? 2 : data.minGrouping;
  if (grouping === false || whole.length < 3 + least) {
    addPart(parts, 'integer', whole);
    return;
  }
  const groups = newList();
  let end = whole.length - 3;
  push(groups, slice(whole, end));
  while (end > 0) {
    const from = max(0, end - data.secondary);
    push(groups, slice(whole, from, end));
    end = from;
  }
  for (let i = groups.length - 1; i >= 0; i--) {
    addPart(parts, 'integer', groups[i]);
    if (i > 0) addPart(parts, 'group', data.group);
  }
}

/** The sign to show before the number: '-', '+' or ''. */
function shownSign(decimal, display) {
  const zero = decimal.digits === '' && decimal.special === undefined;
  const nan = decimal.special === 'nan';
  if (display === 'never') return '';
  if (display === 'always') return decimal.negative ? '-' : '+';
  if (display === 'exceptZero') return zero || nan ? '' : decimal.negative ? '-' : '+';
  if (display === 'negative') return decimal.negative && !zero ? '-' : '';
  return decimal.negative ? '-' : '';
}

/** Digits, grouping and notation, without sign, currency or unit. Also gives the plural category of what is shown. */
function numberCore(given, format) {
  const parts = newList();
  if (given.special !== undefined) {
    addPart(parts, given.special, given.special === 'nan' ? 'NaN' : '∞');
    return { __proto__: null, parts, decimal: given, plural: 'other' };
  }
  let decimal = given;
  let exponent = 0;
  let scale;
  if (format.notation === 'compact') {
    scale = compactScale(decimal, format);
    exponent = scale === undefined ? 0 : scale[1];
  } else if (format.notation !== 'standard' && decimal.digits !== '') {
    exponent = decimal.point - 1;
    if (format.notation === 'engineering') exponent = floor(exponent / 3) * 3;
  }
  if (exponent !== 0) decimal = makeDecimal(decimal.negative, decimal.digits, decimal.point - exponent, undefined);
  const applied = applyDigits(decimal, format.digits);
  const shown = decimalParts(applied.decimal, format.digits.leastWhole, applied.leastFraction);
  addInteger(parts, shown.whole, format);
  if (shown.fraction !== '') {
    addPart(parts, 'decimal', format.data.decimal);
    addPart(parts, 'fraction', shown.fraction);
  }
  const plural = pluralCategory(format.locale.language, shown.whole, shown.fraction);
  if (scale !== undefined) {
    const suffix = format.compactDisplay === 'short' ? scale[2] : plural === 'one' ? scale[3] : scale[4];
    const gap = suffix[0] === ' ' || suffix[0] === NBSP || suffix[0] === NARROW_NBSP ? suffix[0] : '';
    addPart(parts, 'literal', gap);
    addPart(parts, 'compact', slice(suffix, gap.length));
  } else if (format.notation === 'scientific' || format.notation === 'engineering') {
    addPart(parts, 'exponentSeparator', 'E');
    if (exponent < 0) addPart(parts, 'exponentMinusSign', '-');
    addPart(parts, 'exponentInteger', toText(abs(exponent)));
  }
  return { __proto__: null, parts, decimal: applied.decimal, plural };
}

/** The largest scale that the number reaches once it is rounded; undefined below the first. */
function compactScale(decimal, format) {
  const scales = format.data.compact;
  const find = (point) => {
    let found;
    for (let i = 0; i < scales.length; i++) if (point >= scales[i][0] && (scales[i][2] !== '' || format.compactDisplay === 'long')) found = scales[i];
    return found;
  };
  const scale = find(decimal.point);
  const shift = scale === undefined ? 0 : scale[1];
  const rounded = applyDigits(makeDecimal(false, decimal.digits, decimal.point - shift, undefined), format.digits).decimal;
  return find(rounded.point + shift);
}

function formatNumberParts(value, format) {
  let decimal = toDecimal(value);
  if (format.style === 'percent' && decimal.digits !== '') decimal = makeDecimal(decimal.negative, decimal.digits, decimal.point + 2, undefined);
  const core = numberCore(decimal, format);
  const sign = shownSign(makeDecimal(decimal.negative, core.decimal.digits, core.decimal.point, decimal.special), format.signDisplay);
  const parts = newList();
  const addSign = () => addPart(parts, sign === '-' ? 'minusSign' : 'plusSign', sign);
  const addCore = () => { for (let i = 0; i < core.parts.length; i++) push(parts, core.parts[i]); };
  if (format.style === 'currency') {
    const named = format.currencyDisplay === 'name';
    const brackets = format.currencySign === 'accounting' && sign === '-' && format.data.accounting && !named;
    if (brackets) addPart(parts, 'literal', '(');
    else addSign();
    addCurrency(parts, format, core, addCore, named);
    if (brackets) addPart(parts, 'literal', ')');
    return parts;
  }
  addSign();
  addCore();
  if (format.style === 'percent') {
    addPart(parts, 'literal', format.data.percentGap);
    addPart(parts, 'percentSign', '%');
  } else if (format.style === 'unit') addUnit(parts, format, core.plural);
  return parts;
}

function addCurrency(parts, format, core, addCore, named) {
  const { data, currency } = format;
  if (named) {
    addCore();
    addPart(parts, 'literal', ' ');
    addPart(parts, 'currency', currencyName(format, core.plural));
    return;
  }
  const symbol = format.currencyDisplay === 'code' ? currency
    : symbolIn(format.currencyDisplay === 'narrowSymbol' ? NARROW_SYMBOLS : data.symbols, currency) ?? currency;
  if (data.before) {
    addPart(parts, 'currency', symbol);
    addPart(parts, 'literal', isLetters(symbol[symbol.length - 1]) ? NBSP : data.gap);
    addCore();
  } else {
    addCore();
    addPart(parts, 'literal', data.gap);
    addPart(parts, 'currency', symbol);
  }
}

function currencyName(format, plural) {
  const name = format.locale.language === 'en' ? CURRENCY_NAMES[format.currency] : undefined;
  if (name === undefined) return format.currency;
  if (name[name.length - 1] === '=') return slice(name, 0, -1);
  return plural === 'one' ? name : IRREGULAR_PLURALS[name] ?? (name + 's');
}

function addUnit(parts, format, plural) {
  const width = format.unitDisplay === 'short' ? 0 : format.unitDisplay === 'narrow' ? 1 : 2;
  const pick = (unit) => {
    const forms = split(UNITS[unit][width], '|');
    return plural === 'one' || forms.length === 1 ? forms[0] : forms[1];
  };
  let text;
  if (UNITS[format.unit] !== undefined) text = pick(format.unit);
  else {
    const per = indexOf(format.unit, '-per-');
    const below = trim(split(UNITS[slice(format.unit, per + 5)][width], '|')[0]);
    text = '' + pick(slice(format.unit, 0, per)) + (width === 2 ? ' per ' : '/') + below;
  }
  if (format.unit === 'percent' && width !== 2) {
    addPart(parts, 'literal', format.data.percentGap);
    addPart(parts, 'unit', text);
    return;
  }
  const { language } = format.locale;
  if (text[0] === ' ') addPart(parts, 'literal', language === 'fr' ? (width === 0 ? NARROW_NBSP : NBSP) : ' ');
  else if (width === 0 && text[0] === '°' && language !== 'en' && language !== 'ja') addPart(parts, 'literal', language === 'fr' ? NARROW_NBSP : ' ');
  addPart(parts, 'unit', text[0] === ' ' ? slice(text, 1) : text);
}

const RANGE_DASH = '–';
const rangeText = (from, to) => (from === to ? '~' + from : '' + from + RANGE_DASH + to);

makeIntlClass('NumberFormat', true, resolveNumberFormat, (recordOf) => ({
  formatToParts(value) { return partsToArray(formatNumberParts(value, recordOf(this))); },
  formatRange(start, end) {
    const format = recordOf(this);
    const from = formatNumberParts(start, format);
    const to = formatNumberParts(end, format);
    if (format.style === 'currency' && format.data.before && partsToText(from) !== partsToText(to)) {
      return partsToText(from) + ' ' + RANGE_DASH + ' ' + partsToText(to);
    }
    return rangeText(partsToText(from), partsToText(to));
  },
  resolvedOptions() {
    const format = recordOf(this);
    const { digits } = format;
    const options = { locale: format.locale.base, numberingSystem: 'latn', style: format.style };
    if (format.style === 'currency') {
      options.currency = format.currency;
      options.currencyDisplay = format.currencyDisplay;
      options.currencySign = format.currencySign;
    }
    if (format.style === 'unit') {
      options.unit = format.unit;
      options.unitDisplay = format.unitDisplay;
    }
    options.minimumIntegerDigits = digits.leastWhole;
    if (digits.mostSignificant !== undefined || digits.compact) {
      options.minimumSignificantDigits = digits.leastSignificant ?? 1;
      options.maximumSignificantDigits = digits.mostSignificant ?? 2;
    }
    if (digits.mostSignificant === undefined) {
      options.minimumFractionDigits = digits.leastFraction;
      options.maximumFractionDigits = digits.mostFraction;
    }
    options.useGrouping = format.grouping;
    options.notation = format.notation;
    if (format.notation === 'compact') options.compactDisplay = format.compactDisplay;
    options.signDisplay = format.signDisplay;
    options.roundingMode = digits.mode;
    options.roundingIncrement = 1;
    options.trailingZeroDisplay = digits.trailing;
    options.roundingPriority = digits.compact ? 'morePrecision' : 'auto';
    return options;
  },
}), { format: (format) => (value) => partsToText(formatNumberParts(value, format)) });
