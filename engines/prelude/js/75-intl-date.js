// Intl.DateTimeFormat: patterns by locale, in UTC or at a fixed offset. There is no zone data here, on purpose: it would
// be large and would age; a named zone is refused with an error that says so.

const DATE_FIELDS = ['weekday', 'era', 'year', 'month', 'day', 'dayPeriod', 'hour', 'minute', 'second', 'fractionalSecondDigits', 'timeZoneName'];
const STYLE_NAMES = words('full long medium short');
const UTC_NAMES = words('utc gmt etc/utc etc/gmt etc/uct uct zulu etc/zulu universal etc/universal etc/greenwich greenwich gmt0 etc/gmt0 gmt+0 gmt-0 etc/gmt+0 etc/gmt-0');

/** `{ name, minutes }` of a zone. */
function readTimeZone(given) {
  if (given === undefined) return { __proto__: null, name: 'UTC', minutes: 0 };
  const text = toText(given);
  if (listIndexOf(UTC_NAMES, toLowerCase(text)) !== -1) return { __proto__: null, name: 'UTC', minutes: 0 };
  const offset = offsetMinutes(text);
  if (offset !== undefined) {
    const away = abs(offset);
    const digits = (number) => padStart(toText(number), 2, '0');
    return { __proto__: null, name: '' + (offset < 0 ? '-' : '+') + digits(floor(away / 60)) + ':' + digits(away % 60), minutes: offset };
  }
  const lower = toLowerCase(text);
  if (startsWith(lower, 'etc/gmt')) {
    const hours = +slice(text, 7);
    if (isInteger(hours) && hours >= -14 && hours <= 12) return { __proto__: null, name: 'Etc/GMT' + (hours < 0 ? '' : '+') + hours, minutes: -hours * 60 };
  }
  if (isZoneName(text)) throw new RangeError('Time zone data is absent: ' + text + ' (use UTC or an offset such as +02:00)');
  throw new RangeError('Invalid time zone specified: ' + text);
}

const isZoneName = (text) => {
  for (let i = 0; i < text.length; i++) if (!isAlphanumeric(text[i]) && !includes('/_+-', text[i])) return false;
  return includes(text, '/') || text.length === 3;
};

function offsetMinutes(text) {
  if (text[0] !== '+' && text[0] !== '-') return undefined;
  const digits = text.length === 6 && text[3] === ':' ? slice(text, 1, 3) + slice(text, 4) : slice(text, 1);
  if (digits.length !== 2 && digits.length !== 4) return undefined;
  for (let i = 0; i < digits.length; i++) if (!isDigit(charCodeAt(digits, i))) return undefined;
  const hours = +slice(digits, 0, 2);
  const minutes = digits.length === 4 ? +slice(digits, 2) : 0;
  if (hours > 23 || minutes > 59) return undefined;
  return (text[0] === '-' ? -1 : 1) * (hours * 60 + minutes);
}

/** `required` and `defaults` are 'date', 'time', or 'any'/'all', as ECMA-402 names them. */
function resolveDateFormat(locales, given, required = 'any', defaults = 'date') {
  const locale = chooseLocale(locales);
  const options = readOptions(given);
  const data = localeData(dateLocales, locale);
  const format = { __proto__: null, locale, data, bound: undefined, fields: { __proto__: null } };
  const { fields } = format;
  const hour12 = options.hour12 === undefined ? undefined : Boolean(options.hour12);
  const cycle = textOption(options, 'hourCycle', 'h11 h12 h23 h24', undefined) ?? locale.extensions.hc;
  format.zone = readTimeZone(options.timeZone);
  const widths = 'narrow short long';
  fields.weekday = textOption(options, 'weekday', widths, undefined);
  fields.era = textOption(options, 'era', widths, undefined);
  fields.year = textOption(options, 'year', '2-digit numeric', undefined);
  fields.month = textOption(options, 'month', '2-digit numeric narrow short long', undefined);
  fields.day = textOption(options, 'day', '2-digit numeric', undefined);
  fields.dayPeriod = textOption(options, 'dayPeriod', widths, undefined);
  fields.hour = textOption(options, 'hour', '2-digit numeric', undefined);
  fields.minute = textOption(options, 'minute', '2-digit numeric', undefined);
  fields.second = textOption(options, 'second', '2-digit numeric', undefined);
  fields.fractionalSecondDigits = numberOption(options, 'fractionalSecondDigits', 1, 3, undefined);
  fields.timeZoneName = textOption(options, 'timeZoneName', 'short long shortOffset longOffset shortGeneric longGeneric', undefined);
  format.dateStyle = textOption(options, 'dateStyle', 'full long medium short', undefined);
  format.timeStyle = textOption(options, 'timeStyle', 'full long medium short', undefined);
  if (format.dateStyle !== undefined || format.timeStyle !== undefined) {
    for (let i = 0; i < DATE_FIELDS.length; i++) {
      if (fields[DATE_FIELDS[i]] !== undefined) throw new TypeError('Can\'t set option ' + DATE_FIELDS[i] + ' when ' + (format.dateStyle === undefined ? 'timeStyle' : 'dateStyle') + ' is used');
    }
    if (required === 'date' && format.timeStyle !== undefined) throw new TypeError('Invalid option : timeStyle');
    if (required === 'time' && format.dateStyle !== undefined) throw new TypeError('Invalid option : dateStyle');
  } else addDefaultFields(fields, required, defaults);
  format.twelve = hour12 ?? (cycle === undefined ? data.twelve : cycle === 'h11' || cycle === 'h12');
  format.cycle = hour12 === undefined && cycle !== undefined ? cycle : format.twelve ? 'h12' : 'h23';
  format.pattern = datePattern(format);
  return format;
}

function addDefaultFields(fields, required, defaults) {
  const hasDate = fields.weekday !== undefined || fields.year !== undefined || fields.month !== undefined || fields.day !== undefined;
  const hasTime = fields.dayPeriod !== undefined || fields.hour !== undefined || fields.minute !== undefined || fields.second !== undefined ||
    fields.fractionalSecondDigits !== undefined;
  if ((required === 'date' ? hasDate : required === 'time' ? hasTime : hasDate || hasTime)) return;
  if (defaults === 'date' || defaults === 'all') {
    fields.year = 'numeric';
    fields.month = 'numeric';
    fields.day = 'numeric';
  }
  if (defaults === 'time' || defaults === 'all') {
    fields.hour = 'numeric';
    fields.minute = 'numeric';
    fields.second = 'numeric';
  }
}

/** The whole pattern: date, time, and what stands between them. */
function datePattern(format) {
  const { data, fields } = format;
  if (format.dateStyle !== undefined || format.timeStyle !== undefined) {
    const style = listIndexOf(STYLE_NAMES, format.dateStyle);
    const date = style === -1 ? '' : data.styles[style];
    const time = format.timeStyle === undefined ? '' : styledTime(format);
    return date === '' || time === '' ? date + time : date + data.glue[style] + time;
  }
  const date = datePart(data, fields);
  let time = timePart(format, fields.hour !== undefined, fields.minute !== undefined, fields.second !== undefined);
  if (fields.timeZoneName !== undefined) {
    const zone = '{' + (startsWith(fields.timeZoneName, 'long') ? 'zzzz' : 'z') + '}';
    if (time === '') return date === '' ? zone : date + ', ' + zone;
    time += ' ' + zone;
  }
  if (date === '' || time === '') return date + time;
  const alone = fields.weekday !== undefined && fields.month === undefined && fields.day === undefined && fields.year === undefined;
  const length = fields.month === 'long' ? (fields.weekday === undefined ? 1 : 0) : fields.month === 'short' ? 2 : 3;
  return date + (alone ? data.weekdayGlue[fields.weekday === 'long' ? 0 : 1] : data.glue[length]) + time;
}

function datePart(data, fields) {
  const { weekday, year, month, day } = fields;
  const textual = month === 'long' || month === 'short' || month === 'narrow';
  const key = '' + (year === undefined ? '' : 'y') + (month === undefined ? '' : textual ? 'MMM' : 'M') + (day === undefined ? '' : 'd');
  const longKey = month === 'long' ? replaceAll(key, 'MMM', 'MMMM') : key;
  let pattern;
  if (key === '') pattern = '';
  else if (key === 'MMM') pattern = '{MMM}';
  else if (key === 'yd') pattern = data.y + ' (day: {d})';
  else pattern = data[longKey] ?? data[key];
  if (fields.era !== undefined && pattern !== '') pattern += ' {G}';
  if (weekday === undefined) return pattern;
  if (pattern === '') return '{E}';
  if (key === 'd') return weekday === 'long' && data.weekdayLong !== undefined ? replaceAll(data.weekdayLong, '{0}', pattern) : data.Ed;
  if (day === undefined || month === undefined) return pattern + ' {E}';
  const join = weekday === 'long' && data.weekdayLong !== undefined ? data.weekdayLong : year === undefined ? data.weekday : data.weekdayYear;
  return replaceAll(join, '{0}', pattern);
}

function timePart(format, hour, minute, second) {
  const { data, fields } = format;
  let pattern;
  if (hour) {
    if (minute) pattern = format.twelve ? data.h12 : data.h23;
    else pattern = format.twelve ? data.h12h : data.h23h;
    if (second) pattern += ':{ss}';
  } else if (minute) pattern = second ? '{mm}:{ss}' : '{m}';
  else pattern = second ? '{s}' : '';
  if (fields.fractionalSecondDigits !== undefined) pattern += pattern === '' ? '{S}' : localeData(numberLocales, format.locale).decimal + '{S}';
  return hour && format.twelve ? replaceAll(data.period, '{0}', pattern) : pattern;
}

function styledTime(format) {
  const { data, timeStyle } = format;
  const time = timePart(format, true, true, timeStyle !== 'short');
  if (timeStyle === 'long') return time + ' {z}';
  if (timeStyle !== 'full') return time;
  return replaceAll(data.fullZone, '{0}', data.fullTime !== undefined && !format.twelve ? data.fullTime : time);
}

const DATE_PART_TYPES = { __proto__: null, y: 'year', yy: 'year', M: 'month', MM: 'month', MMM: 'month', MMMM: 'month', d: 'day', dd: 'day', E: 'weekday', EEEE: 'weekday',
  h: 'hour', H: 'hour', HH: 'hour', mm: 'minute', m: 'minute', ss: 'second', s: 'second', S: 'fractionalSecond', a: 'dayPeriod', z: 'timeZoneName', zzzz: 'timeZoneName', G: 'era' };

const dateYear = uncurry(Date.prototype.getUTCFullYear);
const dateMonth = uncurry(Date.prototype.getUTCMonth);
const dateDay = uncurry(Date.prototype.getUTCDate);
const dateWeekday = uncurry(Date.prototype.getUTCDay);
const dateHours = uncurry(Date.prototype.getUTCHours);
const dateMinutes = uncurry(Date.prototype.getUTCMinutes);
const dateSeconds = uncurry(Date.prototype.getUTCSeconds);
const dateMilliseconds = uncurry(Date.prototype.getUTCMilliseconds);
const twoDigits = (number) => padStart(toText(number), 2, '0');

function readTime(date) {
  let time;
  if (date === undefined) time = nativeNow('a date format without a date');
  else if (isObject(date) && brands.Date(date)) time = dateTime(date);
  else time = +date;
  if (!(abs(time) <= 8.64e15)) throw new RangeError('Invalid time value');
  return trunc(time);
}

function formatDateParts(time, format) {
  const date = new Date(time + format.zone.minutes * 60_000);
  const parts = newList();
  const { pattern } = format;
  let at = 0;
  while (at < pattern.length) {
    const open = indexOf(pattern, '{', at);
    addPart(parts, 'literal', slice(pattern, at, open === -1 ? pattern.length : open));
    if (open === -1) break;
    const close = indexOf(pattern, '}', open);
    const field = slice(pattern, open + 1, close);
    addPart(parts, DATE_PART_TYPES[field], dateField(field, date, format));
    at = close + 1;
  }
  return parts;
}

function dateField(field, date, format) {
  const { data, fields } = format;
  const padded = (number, wide) => (wide ? twoDigits(number) : toText(number));
  switch (field) {
    case 'y': case 'yy': {
      const year = dateYear(date);
      if (field === 'yy' || fields.year === '2-digit') return twoDigits(((year % 100) + 100) % 100);
      return toText(year > 0 ? year : 1 - year); // a year before the first is counted back
    }
    case 'G': return data.era[dateYear(date) > 0 ? 1 : 0];
    case 'M': case 'MM': return padded(dateMonth(date) + 1, field === 'MM' || fields.month === '2-digit');
    case 'MMM': case 'MMMM': return monthName(field, dateMonth(date), data, fields);
    case 'd': case 'dd': return padded(dateDay(date), field === 'dd' || fields.day === '2-digit');
    case 'E': case 'EEEE': {
      const width = field === 'EEEE' ? 'long' : fields.weekday;
      if (width === 'long') return data.days[dateWeekday(date)];
      if (width === 'narrow') return data.daysNarrow[dateWeekday(date)];
      const alone = fields.day === undefined && fields.month === undefined && fields.year === undefined;
      return (alone && data.daysAlone !== undefined ? data.daysAlone : data.daysShort)[dateWeekday(date)];
    }
    case 'h': case 'H': case 'HH': {
      const hours = dateHours(date);
      const { cycle } = format;
      const shown = cycle === 'h12' ? (hours + 11) % 12 + 1 : cycle === 'h11' ? hours % 12 : cycle === 'h24' && hours === 0 ? 24 : hours;
      // Where 24 hours are usual, two digits for the minutes alone ask for hours without a leading zero.
      const bare = fields.hour === 'numeric' && fields.minute === '2-digit' && !data.twelve;
      return padded(shown, (field === 'HH' && !bare) || fields.hour === '2-digit');
    }
    case 'a': return data.periods[dateHours(date) < 12 ? 0 : 1];
    case 'mm': return twoDigits(dateMinutes(date));
    case 'm': return toText(dateMinutes(date));
    case 'ss': return twoDigits(dateSeconds(date));
    case 's': return toText(dateSeconds(date));
    case 'S': return slice(padStart(toText(dateMilliseconds(date)), 3, '0'), 0, fields.fractionalSecondDigits);
    default: return zoneText(field, format);
  }
}

function monthName(field, month, data, fields) {
  if (field === 'MMMM' || fields.month === 'long') return data.months[month];
  if (fields.month === 'narrow') return data.monthsNarrow[month];
  const alone = fields.month === 'short' && fields.day === undefined && fields.year === undefined;
  return (alone && data.monthsAlone !== undefined ? data.monthsAlone : data.monthsShort)[month];
}

function zoneText(field, format) {
  const { data, zone, fields } = format;
  const named = fields.timeZoneName !== 'shortOffset' && fields.timeZoneName !== 'longOffset';
  if (named && zone.name === 'UTC') return field === 'zzzz' ? data.utc : 'UTC';
  const away = abs(zone.minutes);
  const mark = zone.minutes < 0 ? '-' : '+';
  const hours = floor(away / 60);
  if (field === 'zzzz') return '' + data.offset + mark + twoDigits(hours) + ':' + twoDigits(away % 60);
  return '' + data.offset + mark + hours + (away % 60 === 0 ? '' : ':' + twoDigits(away % 60));
}

makeIntlClass('DateTimeFormat', true, (locales, options) => resolveDateFormat(locales, options), (recordOf) => ({
  formatToParts(date) { return partsToArray(formatDateParts(readTime(date), recordOf(this))); },
  formatRange(start, end) {
    const format = recordOf(this);
    if (start === undefined || end === undefined) throw new TypeError('startDate or endDate cannot be undefined');
    const from = partsToText(formatDateParts(readTime(start), format));
    const to = partsToText(formatDateParts(readTime(end), format));
    return from === to ? from : from + ' – ' + to;
  },
  resolvedOptions() {
    const format = recordOf(this);
    const options = { locale: format.locale.base, calendar: 'gregory', numberingSystem: 'latn', timeZone: format.zone.name };
    if (includes(format.pattern, '{h}') || includes(format.pattern, '{H')) {
      options.hourCycle = format.cycle;
      options.hour12 = format.twelve;
    }
    for (let i = 0; i < DATE_FIELDS.length; i++) {
      const name = DATE_FIELDS[i];
      if (format.fields[name] === undefined) continue;
      options[name] = format.fields[name];
      if ((name === 'minute' || name === 'second') && format.fields.hour !== undefined) options[name] = '2-digit';
    }
    if (format.dateStyle !== undefined) options.dateStyle = format.dateStyle;
    if (format.timeStyle !== undefined) options.timeStyle = format.timeStyle;
    return options;
  },
}), { format: (format) => (date) => partsToText(formatDateParts(readTime(date), format)) });
