// Intl, date conventions of each locale, from the CLDR. Fields stand in braces: {y} {yy} {M} {MM} {MMM} {MMMM} {d} {dd}
// {E} {EEEE} {h} {H} {HH} {mm} {ss} {a} {z} {zzzz}.

const words = (text) => split(text, ' ');
const EN_MONTHS = words('January February March April May June July August September October November December');
const EN_DAYS = words('Sunday Monday Tuesday Wednesday Thursday Friday Saturday');
const EN = {
  __proto__: null,
  months: EN_MONTHS, monthsShort: words('Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'), monthsNarrow: words('J F M A M J J A S O N D'),
  days: EN_DAYS, daysShort: words('Sun Mon Tue Wed Thu Fri Sat'), daysNarrow: words('S M T W T F S'), periods: ['AM', 'PM'], utc: 'Coordinated Universal Time',
  Md: '{M}/{d}', MMMd: '{MMM} {d}', yM: '{M}/{y}', yMd: '{M}/{d}/{y}', yMMM: '{MMM} {y}', yMMMd: '{MMM} {d}, {y}', Ed: '{d} {E}', y: '{y}', M: '{M}', d: '{d}',
  weekday: '{E}, {0}', weekdayYear: '{E}, {0}', glue: [' at ', ' at ', ', ', ', '], weekdayGlue: [' ', ' '],
  h12: '{h}:{mm}', h12s: '{h}:{mm}:{ss}', h12h: '{h}', h23: '{HH}:{mm}', h23h: '{HH}', period: '{0} {a}', twelve: true,
  styles: ['{EEEE}, {MMMM} {d}, {y}', '{MMMM} {d}, {y}', '{MMM} {d}, {y}', '{M}/{d}/{yy}'], fullZone: '{0} {zzzz}', offset: 'GMT', era: ['BC', 'AD'],
};
const EN_WORLD = { ...EN, __proto__: null, monthsShort: words('Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec'), periods: ['am', 'pm'],
  Md: '{dd}/{MM}', MMMd: '{d} {MMM}', yM: '{MM}/{y}', yMd: '{dd}/{MM}/{y}', yMMMd: '{d} {MMM} {y}', Ed: '{E} {d}' };

const dateLocales = {
  __proto__: null,
  'en': EN,
  'en-GB': { ...EN_WORLD, __proto__: null, weekday: '{E} {0}', weekdayGlue: [' ', ', '], twelve: false, styles: ['{EEEE}, {d} {MMMM} {y}', '{d} {MMMM} {y}', '{d} {MMM} {y}', '{dd}/{MM}/{y}'] },
  'en-IN': { ...EN_WORLD, __proto__: null, weekdayGlue: [', ', ' '], yMd: '{d}/{M}/{y}', styles: ['{EEEE}, {d} {MMMM} {y}', '{d} {MMMM} {y}', '{d} {MMM} {y}', '{dd}/{MM}/{yy}'] },
  'de': { ...EN, __proto__: null, months: words('Januar Februar März April Mai Juni Juli August September Oktober November Dezember'),
    monthsShort: words('Jan. Feb. März Apr. Mai Juni Juli Aug. Sept. Okt. Nov. Dez.'), monthsAlone: words('Jan Feb Mär Apr Mai Jun Jul Aug Sep Okt Nov Dez'),
    days: words('Sonntag Montag Dienstag Mittwoch Donnerstag Freitag Samstag'), daysShort: words('So. Mo. Di. Mi. Do. Fr. Sa.'), daysAlone: words('So Mo Di Mi Do Fr Sa'), daysNarrow: words('S M D M D F S'),
    utc: 'Koordinierte Weltzeit', Md: '{d}.{M}.', MMMd: '{d}. {MMM}', yM: '{M}/{y}', yMd: '{d}.{M}.{y}', yMMMd: '{d}. {MMM} {y}', Ed: '{E}, {d}.',
    glue: [' um ', ' um ', ', ', ', '], weekdayGlue: [', ', ', '], h23h: '{HH} Uhr', twelve: false, era: ['v. Chr.', 'n. Chr.'],
    styles: ['{EEEE}, {d}. {MMMM} {y}', '{d}. {MMMM} {y}', '{dd}.{MM}.{y}', '{dd}.{MM}.{yy}'] },
  'fr': { ...EN, __proto__: null, months: words('janvier février mars avril mai juin juillet août septembre octobre novembre décembre'),
    monthsShort: words('janv. févr. mars avr. mai juin juil. août sept. oct. nov. déc.'),
    days: words('dimanche lundi mardi mercredi jeudi vendredi samedi'), daysShort: words('dim. lun. mar. mer. jeu. ven. sam.'), daysNarrow: words('D L M M J V S'),
    utc: 'temps universel coordonné', offset: 'UTC', Md: '{dd}/{MM}', MMMd: '{d} {MMM}', yM: '{MM}/{y}', yMd: '{dd}/{MM}/{y}', yMMMd: '{d} {MMM} {y}', Ed: '{E} {d}',
    weekday: '{E} {0}', weekdayYear: '{E} {0}', glue: [' à ', ' à ', ', ', ' '], weekdayGlue: [' ', ' '], h23h: '{HH} h', twelve: false, era: ['av. J.-C.', 'ap. J.-C.'],
    styles: ['{EEEE} {d} {MMMM} {y}', '{d} {MMMM} {y}', '{d} {MMM} {y}', '{dd}/{MM}/{y}'] },
  'es': { ...EN, __proto__: null, months: words('enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre'),
    monthsShort: words('ene feb mar abr may jun jul ago sept oct nov dic'), monthsNarrow: words('E F M A M J J A S O N D'),
    days: words('domingo lunes martes miércoles jueves viernes sábado'), daysShort: words('dom lun mar mié jue vie sáb'), daysNarrow: words('D L M X J V S'),
    periods: ['a. m.', 'p. m.'], utc: 'tiempo universal coordinado', Md: '{d}/{M}', MMMd: '{d} {MMM}', MMMMd: '{d} de {MMM}', yMd: '{d}/{M}/{y}', yMMMM: '{MMM} de {y}', yMMMd: '{d} {MMM} {y}',
    yMMMMd: '{d} de {MMM} de {y}', Ed: '{E} {d}', glue: [', ', ' a las ', ', ', ', '], weekdayGlue: [', ', ', '], h23: '{H}:{mm}', h23h: '{H}', twelve: false, fullZone: '{0} ({zzzz})', era: ['a. C.', 'd. C.'],
    styles: ['{EEEE}, {d} de {MMMM} de {y}', '{d} de {MMMM} de {y}', '{d} {MMM} {y}', '{d}/{M}/{yy}'] },
  'it': { ...EN, __proto__: null, months: words('gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre'),
    monthsShort: words('gen feb mar apr mag giu lug ago set ott nov dic'), monthsNarrow: words('G F M A M G L A S O N D'),
    days: words('domenica lunedì martedì mercoledì giovedì venerdì sabato'), daysShort: words('dom lun mar mer gio ven sab'), daysNarrow: words('D L M M G V S'),
    utc: 'Tempo coordinato universale', Md: '{dd}/{MM}', MMMd: '{d} {MMM}', yM: '{MM}/{y}', yMd: '{dd}/{MM}/{y}', yMMMd: '{d} {MMM} {y}', Ed: '{E} {d}',
    weekday: '{E} {0}', weekdayYear: '{E} {0}', glue: [' alle ore ', ' alle ore ', ', ', ', '], weekdayGlue: [' ', ', '], h23h: '{H}', twelve: false, era: ['a.C.', 'd.C.'],
    styles: ['{EEEE} {d} {MMMM} {y}', '{d} {MMMM} {y}', '{d} {MMM} {y}', '{dd}/{MM}/{yy}'] },
  'ja': { ...EN, __proto__: null, months: words('1月 2月 3月 4月 5月 6月 7月 8月 9月 10月 11月 12月'), monthsShort: words('1月 2月 3月 4月 5月 6月 7月 8月 9月 10月 11月 12月'),
    monthsNarrow: words('1月 2月 3月 4月 5月 6月 7月 8月 9月 10月 11月 12月'), days: words('日曜日 月曜日 火曜日 水曜日 木曜日 金曜日 土曜日'), daysShort: words('日 月 火 水 木 金 土'),
    daysNarrow: words('日 月 火 水 木 金 土'), periods: ['午前', '午後'], utc: '協定世界時', MMMd: '{MMM}{d}日', yM: '{y}/{M}', yMd: '{y}/{M}/{d}', yMMM: '{y}年{MMM}', yMMMd: '{y}年{MMM}{d}日',
    Ed: '{d}日({E})', y: '{y}年', M: '{M}月', d: '{d}日', weekday: '{0}({E})', weekdayYear: '{0}({E})', weekdayLong: '{0}{E}', glue: [' ', ' ', ' ', ' '], weekdayGlue: [' ', ' '],
    h12h: '{h}時', h23: '{H}:{mm}', h23h: '{H}時', period: '{a}{0}', twelve: false, fullTime: '{H}時{mm}分{ss}秒', era: ['紀元前', '西暦'],
    styles: ['{y}年{M}月{d}日{EEEE}', '{y}年{M}月{d}日', '{y}/{MM}/{dd}', '{y}/{MM}/{dd}'] },
  'pt': { ...EN, __proto__: null, months: words('janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro'),
    monthsShort: words('jan. fev. mar. abr. mai. jun. jul. ago. set. out. nov. dez.'), days: words('domingo segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábado'),
    daysShort: words('dom. seg. ter. qua. qui. sex. sáb.'), daysNarrow: words('D S T Q Q S S'), utc: 'Horário Universal Coordenado',
    Md: '{dd}/{MM}', MMMd: '{d} de {MMM}', yM: '{MM}/{y}', yMd: '{dd}/{MM}/{y}', yMMM: '{MMM} de {y}', yMMMd: '{d} de {MMM} de {y}', Ed: '{E}, {d}',
    glue: [' às ', ' às ', ', ', ', '], weekdayGlue: [', ', ', '], twelve: false, era: ['a.C.', 'd.C.'],
    styles: ['{EEEE}, {d} de {MMMM} de {y}', '{d} de {MMMM} de {y}', '{d} de {MMM} de {y}', '{dd}/{MM}/{y}'] },
};
