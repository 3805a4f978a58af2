// Intl and toLocaleString, against the ICU in Node. The nine locales that the prelude has data for.
const locales = ['en-US', 'en-GB', 'en-IN', 'de-DE', 'fr-FR', 'es-ES', 'it-IT', 'ja-JP', 'pt-BR'];
const number = (locale, options, value) => `new Intl.NumberFormat('${locale}', ${options}).format(${value})`;
const date = (locale, options, time = 'Date.UTC(2024, 2, 5, 15, 4, 9, 78)') => `new Intl.DateTimeFormat('${locale}', ${options}).format(new Date(${time}))`;

const perLocaleNumbers = [
  ['undefined', ['0', '1234.5', '1234567.891', '-0.0005', '-1234.567', '12345', '1e21', 'NaN', '-Infinity', '123456789012345678901234567890n', '0.1 + 0.2', '1.005']],
  ["{style: 'percent'}", ['0.256', '-1.5', '12.345']],
  ["{style: 'percent', minimumFractionDigits: 1}", ['0.256']],
  ["{style: 'currency', currency: 'USD'}", ['1234.5', '-5', '0', '1e6']],
  ["{style: 'currency', currency: 'EUR'}", ['1234.5', '-0.004']],
  ["{style: 'currency', currency: 'JPY'}", ['1234.5']],
  ["{style: 'currency', currency: 'CHF'}", ['1234.5']],
  ["{style: 'currency', currency: 'INR', maximumFractionDigits: 0}", ['12345678.9']],
  ["{style: 'currency', currency: 'EUR', currencyDisplay: 'code'}", ['5']],
  ["{style: 'currency', currency: 'CAD', currencyDisplay: 'narrowSymbol'}", ['5']],
  ["{style: 'currency', currency: 'USD', currencySign: 'accounting'}", ['-5', '5']],
  ["{notation: 'compact'}", ['0', '5', '999', '1234', '1500', '9999', '12345', '999999', '1234567', '-15300000', '1.5e9', '2.3456e12']],
  ["{notation: 'compact', compactDisplay: 'long'}", ['1500', '1000000', '2500000']],
  ["{style: 'currency', currency: 'USD', notation: 'compact'}", ['1234567', '999']],
  ["{minimumFractionDigits: 2, maximumFractionDigits: 2}", ['1', '1.005', '1234.567', '0.995']],
  ["{maximumSignificantDigits: 3}", ['123456', '0.0012345', '1.5']],
  ["{useGrouping: false}", ['1234567.8']],
  ["{signDisplay: 'always'}", ['5', '0', '-5']],
  ["{style: 'unit', unit: 'kilometer'}", ['16', '1']],
  ["{style: 'unit', unit: 'kilogram'}", ['1.5']],
  ["{style: 'unit', unit: 'celsius'}", ['21']],
];
const englishNumbers = [
  ["{maximumFractionDigits: 0}", ['0.5', '1.5', '2.5', '-0.5', '0.49999']],
  ["{minimumIntegerDigits: 3}", ['5', '1234']],
  ["{minimumSignificantDigits: 3, maximumSignificantDigits: 5}", ['1', '123456', '0.000123456']],
  ["{signDisplay: 'never'}", ['-5']], ["{signDisplay: 'exceptZero'}", ['0', '-0', '5', 'NaN']], ["{signDisplay: 'negative'}", ['-0', '-5', '5']],
  ["{useGrouping: 'min2'}", ['1234', '12345']], ["{useGrouping: 'always'}", ['1234']],
  ["{notation: 'scientific'}", ['123456', '0.00012', '0']], ["{notation: 'engineering'}", ['123456']],
  ["{style: 'currency', currency: 'EUR', currencyDisplay: 'name'}", ['1', '2.5']], ["{style: 'currency', currency: 'USD', currencyDisplay: 'name'}", ['1', '1234.5']],
  ["{style: 'currency', currency: 'KWD'}", ['1']], ["{style: 'currency', currency: 'XYZ'}", ['1']],
  ["{style: 'currency', currency: 'usd', minimumFractionDigits: 0}", ['1234.5', '1234']],
  ["{style: 'currency', currency: 'USD', trailingZeroDisplay: 'stripIfInteger'}", ['1', '1.5']],
  ...['byte', 'kilobyte', 'megabyte', 'gigabyte', 'hour', 'minute', 'second', 'millisecond', 'day', 'week', 'month', 'year', 'mile', 'foot', 'inch', 'pound', 'ounce', 'liter', 'percent', 'fahrenheit', 'mile-per-hour', 'kilometer-per-hour', 'liter-per-kilometer']
    .flatMap((unit) => ['short', 'long', 'narrow'].map((display) => [`{style: 'unit', unit: '${unit}', unitDisplay: '${display}'}`, ['1', '5.5']])),
  ...['ceil', 'floor', 'expand', 'trunc', 'halfCeil', 'halfFloor', 'halfExpand', 'halfTrunc', 'halfEven'].map((mode) => [`{maximumFractionDigits: 0, roundingMode: '${mode}'}`, ['2.5', '-2.5', '3.5', '2.1', '-2.9']]),
];
const dates = ['undefined', "{dateStyle: 'full'}", "{dateStyle: 'long'}", "{dateStyle: 'medium'}", "{dateStyle: 'short'}", "{timeStyle: 'full'}", "{timeStyle: 'long'}", "{timeStyle: 'medium'}", "{timeStyle: 'short'}",
  "{dateStyle: 'full', timeStyle: 'short'}", "{dateStyle: 'long', timeStyle: 'medium'}", "{dateStyle: 'medium', timeStyle: 'short'}", "{dateStyle: 'short', timeStyle: 'short'}",
  "{year: 'numeric', month: 'long', day: 'numeric'}", "{weekday: 'long', year: 'numeric', month: 'long', day: 'numeric'}", "{year: 'numeric', month: 'short', day: 'numeric'}", "{year: 'numeric', month: '2-digit', day: '2-digit'}",
  "{weekday: 'short', month: 'short', day: 'numeric'}", "{month: 'long', year: 'numeric'}", "{month: 'short', day: 'numeric'}", "{month: 'long'}", "{month: 'short'}", "{weekday: 'long'}", "{weekday: 'short'}", "{year: 'numeric'}", "{day: 'numeric'}", "{month: 'numeric', day: 'numeric'}",
  "{year: '2-digit', month: 'numeric', day: 'numeric'}", "{hour: 'numeric', minute: '2-digit'}", "{hour: '2-digit', minute: '2-digit', second: '2-digit'}", "{hour: 'numeric'}", "{hour: 'numeric', hour12: true}",
  "{hour: '2-digit', minute: '2-digit', hour12: false}", "{hour: 'numeric', minute: 'numeric', hour12: true}", "{hour: 'numeric', minute: 'numeric', hourCycle: 'h23'}", "{minute: '2-digit', second: '2-digit'}",
  "{year: 'numeric', month: 'long', day: 'numeric', hour: 'numeric', minute: '2-digit'}", "{year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit'}",
  "{year: 'numeric', month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit'}", "{weekday: 'long', hour: 'numeric', minute: '2-digit'}", "{weekday: 'short', hour: 'numeric'}", "{weekday: 'long', day: 'numeric'}",
  "{hour: 'numeric', minute: '2-digit', timeZoneName: 'short'}",
  "{minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3}", "{year: 'numeric', month: 'numeric', day: 'numeric', weekday: 'short'}", "{month: '2-digit', year: 'numeric'}"];

const other = String.raw`
(1234.5).toLocaleString()
(1234.5).toLocaleString('de-DE')
(1234.5).toLocaleString('en-US', {style: 'currency', currency: 'USD'})
(1234.5).toLocaleString(undefined, {minimumFractionDigits: 2})
(0).toLocaleString(['de', 'en'])
(1234.5).toLocaleString('xx')
(1234.5).toLocaleString('en_US')
(1234.5).toLocaleString('')
(12345678901234567890n).toLocaleString()
(1e3).toLocaleString('en-US', {maximumFractionDigits: 101})
(1e3).toLocaleString('en-US', {minimumFractionDigits: 5, maximumFractionDigits: 2})
(1e3).toLocaleString('en-US', {minimumFractionDigits: 5})
(1e3).toLocaleString('en-US', {maximumFractionDigits: 1})
(1e3).toLocaleString('en-US', {style: 'currency'})
(1e3).toLocaleString('en-US', {style: 'currency', currency: 'x'})
(1e3).toLocaleString('en-US', {style: 'nope'})
(1e3).toLocaleString('en-US', {style: 'unit'})
(1e3).toLocaleString('en-US', {style: 'unit', unit: 'nope'})
[1234.5, 'x', null, new Date(0)].toLocaleString('en-US')
[1.5, [2.5]].toLocaleString('de-DE')
new Date(0).toLocaleString()
new Date(0).toLocaleDateString()
new Date(0).toLocaleTimeString()
new Date(0).toLocaleDateString('en-US', {hour: 'numeric'})
new Date(0).toLocaleTimeString('en-US', {month: 'long'})
new Date(0).toLocaleTimeString([], {hour: '2-digit', minute: '2-digit'})
new Date(0).toLocaleTimeString('en-US', {hour12: false})
new Date(NaN).toLocaleString()
new Date(0).toLocaleDateString('en-US', {timeStyle: 'short'})
new Date(0).toLocaleString('en-US', {dateStyle: 'short', year: 'numeric'})
new Date(0).toLocaleString('en-US', {timeZone: 'Nope/Nope'})
new Date(0).toLocaleString('en-US', {timeZone: 'utc'})
new Date(0).toLocaleString('en-US', {timeZone: 'Etc/GMT+5'})
new Date(-1e14).toLocaleDateString('en-US')
new Date(8.64e15).toLocaleDateString('en-US')
new Date(Date.UTC(2024, 0, 1, 0, 30)).toLocaleTimeString('en-US', {hour: 'numeric', minute: '2-digit', hour12: true})
new Date(Date.UTC(2024, 0, 1, 12, 30)).toLocaleTimeString('en-US')
new Intl.DateTimeFormat('en-US').format(NaN)
Intl.NumberFormat('en-US').format(5)
Intl.NumberFormat('en').resolvedOptions().locale
new Intl.NumberFormat('en-US').resolvedOptions()
new Intl.NumberFormat('de-DE', {style: 'currency', currency: 'EUR'}).resolvedOptions()
new Intl.NumberFormat('en-US', {notation: 'compact'}).resolvedOptions()
new Intl.NumberFormat('en-US', {maximumSignificantDigits: 3}).resolvedOptions()
new Intl.DateTimeFormat('en-US').resolvedOptions()
new Intl.DateTimeFormat('en-US', {hour: 'numeric', minute: 'numeric'}).resolvedOptions()
new Intl.DateTimeFormat('de-DE', {dateStyle: 'long', timeStyle: 'short'}).resolvedOptions()
Intl.DateTimeFormat().resolvedOptions().timeZone
new Intl.NumberFormat('en-US', {style: 'currency', currency: 'USD'}).formatToParts(-1234.5)
new Intl.NumberFormat('de-DE', {style: 'percent'}).formatToParts(12.5)
new Intl.NumberFormat('en-US', {notation: 'compact'}).formatToParts(12345)
new Intl.NumberFormat('en-US', {style: 'unit', unit: 'hour'}).formatToParts(3)
new Intl.NumberFormat('en-US').formatToParts(NaN)
new Intl.DateTimeFormat('en-US', {dateStyle: 'long', timeStyle: 'short'}).formatToParts(new Date(0))
new Intl.DateTimeFormat('de-DE').formatToParts(new Date(0))
Intl.NumberFormat.supportedLocalesOf(['en-US', 'de', 'zz'])
Intl.getCanonicalLocales(['EN-us', 'de-latn-de'])
Intl.getCanonicalLocales('x')
[0, 1, 2, 1.5, -1].map((n) => new Intl.PluralRules('en').select(n))
[0, 1, 2, 1.5, 1000000].map((n) => new Intl.PluralRules('fr').select(n))
[0, 1, 2, 1000000].map((n) => new Intl.PluralRules('es').select(n))
[0, 1, 2, 1.5].map((n) => new Intl.PluralRules('pt-BR').select(n))
[0, 1, 2].map((n) => new Intl.PluralRules('ja').select(n))
[1, 2, 3, 4, 11, 12, 13, 21, 22, 23, 101, 111].map((n) => new Intl.PluralRules('en', {type: 'ordinal'}).select(n))
[1, 8, 11].map((n) => new Intl.PluralRules('it', {type: 'ordinal'}).select(n))
new Intl.PluralRules('en', {minimumFractionDigits: 1}).select(1)
new Intl.ListFormat('en').format([])
new Intl.ListFormat('en').format(['a'])
new Intl.ListFormat('en').format(['a', 'b'])
new Intl.ListFormat('en').format(['a', 'b', 'c', 'd'])
new Intl.ListFormat('en', {type: 'disjunction'}).format(['a', 'b', 'c'])
new Intl.ListFormat('en', {type: 'unit'}).format(['a', 'b', 'c'])
new Intl.ListFormat('en', {style: 'short'}).format(['a', 'b', 'c'])
new Intl.ListFormat('en', {style: 'narrow'}).format(['a', 'b', 'c'])
new Intl.ListFormat('en', {type: 'unit', style: 'narrow'}).format(['a', 'b', 'c'])
new Intl.ListFormat('en-GB').format(['a', 'b', 'c'])
new Intl.ListFormat('de').format(['a', 'b', 'c'])
new Intl.ListFormat('fr', {type: 'disjunction'}).format(['a', 'b', 'c'])
new Intl.ListFormat('ja').format(['a', 'b', 'c'])
new Intl.ListFormat('en').format([1])
new Intl.ListFormat('en').formatToParts(['a', 'b'])
Intl.ListFormat('en')
[-2, -1, 0, 1, 2, 1.5, 1000].map((n) => new Intl.RelativeTimeFormat('en').format(n, 'day'))
[-2, -1, 0, 1, 2].map((n) => new Intl.RelativeTimeFormat('en', {numeric: 'auto'}).format(n, 'day'))
['second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'].map((u) => [-1, 0, 1, 3].map((n) => new Intl.RelativeTimeFormat('en', {numeric: 'auto'}).format(n, u)))
['second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'].map((u) => [-1, 0, 1, 3].map((n) => new Intl.RelativeTimeFormat('en', {style: 'short', numeric: 'auto'}).format(n, u)))
['second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'].map((u) => [-1, 3].map((n) => new Intl.RelativeTimeFormat('en', {style: 'narrow'}).format(n, u)))
new Intl.RelativeTimeFormat('en').format(3, 'days')
new Intl.RelativeTimeFormat('en').format(3, 'nope')
new Intl.RelativeTimeFormat('en').format(NaN, 'day')
new Intl.RelativeTimeFormat('en').formatToParts(-3, 'day')
['b', 'a', 'C', 'ä', 'A', 'B', 'z', 'Z', 'é', 'e', 'f', '1', '10', '2', ' ', '_', '-', 'ß', 'ss', 'st', ''].sort(new Intl.Collator('en').compare)
['a10', 'a2', 'a1', 'b1', 'a02'].sort(new Intl.Collator('en', {numeric: true}).compare)
['résumé', 'resume', 'Resume', 'Résumé', 'resumes'].sort((a, b) => a.localeCompare(b))
['_', '-', ',', ';', ':', '!', '?', '.', "'", '"', '(', ')', '[', ']', '{', '}', '@', '*', '/', '\\', '&', '#', '%', '^', '+', '<', '=', '>', '|', '~', '$', '0', 'a'].sort((a, b) => a.localeCompare(b))
['a b', 'ab', 'a-b', 'a_b', 'aB', 'A b', 'a  b'].sort((a, b) => a.localeCompare(b))
['a'.localeCompare('b'), 'a'.localeCompare('a'), 'b'.localeCompare('a'), 'a'.localeCompare('A'), 'a'.localeCompare('á')]
['a'.localeCompare('A', 'en', {sensitivity: 'base'}), 'a'.localeCompare('á', 'en', {sensitivity: 'base'}), 'a'.localeCompare('á', 'en', {sensitivity: 'accent'}), 'a'.localeCompare('A', 'en', {sensitivity: 'accent'}), 'a'.localeCompare('A', 'en', {sensitivity: 'case'})]
['b', 'A', 'a', 'B'].sort(new Intl.Collator('en', {caseFirst: 'upper'}).compare)
['co-op', 'coop', 'CO-OP', 'co op'].sort(new Intl.Collator('en', {ignorePunctuation: true}).compare)
new Intl.Collator('en').resolvedOptions()
'a'.localeCompare()
['item 10', 'Item 2', 'item-1', 'ITEM', 'item', 'Zed', 'alpha', 'Alpha', 'alpha1', 'alphá', 'b\u0301', 'b', 'B', '$1', '€1', '~', 'a.b', 'a/b', 'a1b', 'aab', 'AaB'].sort((a, b) => a.localeCompare(b))
['Zoë', 'zoo', 'Zoe', 'zoé'].sort(Intl.Collator().compare)
new Intl.Locale('en-latn-us').baseName
new Intl.Locale('en-US').language + new Intl.Locale('en-US').region
String(new Intl.Locale('de', {region: 'AT'}))
(1.5).toLocaleString(new Intl.Locale('de-DE'))
Object.prototype.toString.call(Intl) + Object.prototype.toString.call(new Intl.NumberFormat())
new Intl.NumberFormat('en-US').format('123456789.123456789')
new Intl.NumberFormat('en-US', {maximumFractionDigits: 20}).format('0.12345678901234567890123')
new Intl.NumberFormat('en-US').format('abc')
new Intl.NumberFormat('en-US').format(null)
new Intl.NumberFormat('en-US').format(undefined)
[1234, 5678].map(new Intl.NumberFormat('en-US').format)
[Intl.NumberFormat.length, Intl.NumberFormat.name, (5).toLocaleString.length, Date.prototype.toLocaleString.length, ''.localeCompare.length]
`.trim().split('\n');

export default async function check({ same, fresh, is }) {
  // Node 20 has no offset zones, and has zone data where the prelude has none.
  const guest = fresh();
  const at = (options) => guest.run(`new Date(Date.UTC(2024, 2, 5, 15, 4, 9)).toLocaleString('en-US', ${options})`);
  is('intl', 'a fixed offset', at("{timeStyle: 'long', dateStyle: 'short', timeZone: '-03:00'}"), '3/5/24, 12:04:09 PM GMT-3');
  is('intl', 'an offset with minutes', at("{hour: 'numeric', minute: 'numeric', timeZone: '+0530', timeZoneName: 'short'}"), '8:34 PM GMT+5:30');
  is('intl', 'an offset crosses midnight', at("{dateStyle: 'short', timeZone: '+14'}"), '3/6/24');
  is('intl', 'an offset is named', guest.run("new Intl.DateTimeFormat('en', {timeZone: '+02'}).resolvedOptions().timeZone"), '+02:00');
  is('intl', 'a named zone says that its data is absent', guest.run("(() => { try { new Date(0).toLocaleString('en-US', {timeZone: 'America/New_York'}); } catch (e) { return [e.name, /zone data is absent/.test(e.message)]; } })()"), ['RangeError', true]);

  for (const locale of locales) {
    await same('intl', perLocaleNumbers.flatMap(([options, values]) => values.map((value) => number(locale, options, value))));
    await same('intl', dates.map((options) => date(locale, options)));
    await same('intl', ["{dateStyle: 'full', timeStyle: 'medium'}", "{month: 'short', day: 'numeric', year: 'numeric', hour: 'numeric', minute: '2-digit'}"].flatMap((options) => [0, 1, 4, 5, 6, 7, 8, 11].map((month) => date(locale, options, `Date.UTC(2023, ${month}, ${month + 9}, ${month}, 5)`))));
  }
  await same('intl', englishNumbers.flatMap(([options, values]) => values.map((value) => number('en-US', options, value))));
  await same('intl', other);
}
