// Durations, as people write them: 1500, "1500ms", "10s", "5m", "2h", "7d", { hours: 2, minutes: 30 }.

import { RangeError, RegExp, TypeError, Number, floor, isFinite, isObject, objectKeys, regExpExec, dateTime, Date, showText } from './capture.js';

const UNITS = { __proto__: null, ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
const FIELDS = { __proto__: null, milliseconds: 'ms', seconds: 's', minutes: 'm', hours: 'h', days: 'd', weeks: 'w' };
const TEXT = new RegExp('^\\s*(\\d+(?:\\.\\d+)?)\\s*(ms|s|m|h|d|w)\\s*$');
/** A hundred years: whoever asks for more has mistaken the unit. */
const DURATION_MS_MAX = 100 * 365 * UNITS.d;

const inLimits = (ms, given) => {
  if (!isFinite(ms) || ms < 0 || ms > DURATION_MS_MAX) throw new RangeError('a duration is between 0 and 100 years: ' + showText(given));
  // Whole milliseconds, and never less than was asked for.
  return -floor(-ms);
};

/** Whole milliseconds, or an error that says how durations are written. */
export const milliseconds = (duration) => {
  if (typeof duration === 'number') return inLimits(duration, duration);
  if (typeof duration === 'string') {
    const found = regExpExec(TEXT, duration);
    if (found !== null) return inLimits(Number(found[1]) * UNITS[found[2]], duration);
  } else if (isObject(duration)) {
    const names = objectKeys(duration);
    let total = 0;
    for (let i = 0; i < names.length; i++) {
      const unit = FIELDS[names[i]];
      if (unit === undefined) throw new TypeError('`' + names[i] + '` is no field of a duration; write days, hours, minutes, seconds or milliseconds');
      total += Number(duration[names[i]]) * UNITS[unit];
    }
    if (names.length > 0) return inLimits(total, 'an object');
  }
  throw new TypeError('not a duration: ' + showText(duration) + '; write milliseconds, "10s", "5m", "2h", "7d" or { hours: 2 }');
};

/** The moment that a `Date`, an ISO text or a number of milliseconds names. */
export const moment = (when) => {
  let ms = NaN;
  if (typeof when === 'number') ms = when;
  else if (typeof when === 'string') ms = dateTime(new Date(when));
  else if (isObject(when)) ms = dateTime(when);
  if (!isFinite(ms)) throw new TypeError('not a moment: ' + showText(when) + '; write a Date, an ISO text or milliseconds');
  return ms;
};
