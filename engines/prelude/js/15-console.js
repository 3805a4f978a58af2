// The console: every call becomes one text for stdout or stderr, without a newline at its end.

const STDOUT = 0;
const STDERR = 1;
const CONSOLE_LABELS_MAX = 1_000;
const CONSOLE_GROUPS_MAX = 100;
const CONSOLE_LABEL_CHARS_MAX = 1_000;
const TABLE_ROWS_MAX = 1_000;
const TABLE_COLUMNS_MAX = 100;

const consoleCounts = new Map();
const consoleTimers = new Map();
let consoleGroups = 0;
let saidLabelsFull = false;
let saidGroupsFull = false;

function print(stream, text) {
  const margin = repeat('  ', consoleGroups);
  nativeOutput(stream, margin === '' ? text : margin + replaceAll(text, '\n', '\n' + margin));
}

/** `format('%s is %d', 'x', 1)`: printf directives of the first argument, then the other arguments, spaced. */
function formatArguments(values) {
  if (values.length === 0) return '';
  let text = '';
  let used = 0;
  if (typeof values[0] === 'string') {
    if (values.length === 1) return values[0];
    const filled = fillTemplate(values[0], values);
    text = filled.text;
    used = filled.used;
  }
  let inspected = 0; // one bound for the whole call, not one for each argument
  for (let i = used; i < values.length; i++) {
    let part = values[i];
    if (typeof part !== 'string') {
      part = inspected > INSPECT_CHARS_MAX ? '...' : inspect(part);
      inspected += part.length;
    }
    text += i === 0 ? part : ' ' + part;
  }
  return text;
}

function fillTemplate(template, values) {
  let text = '';
  let from = 0;
  let used = 1;
  for (let i = 0; i < template.length - 1; i++) {
    if (charCodeAt(template, i) !== 37) continue;
    const directive = template[i + 1];
    let part;
    if (directive === '%') part = '%';
    else if (used < values.length) {
      part = fillDirective(directive, values[used]);
      if (part !== undefined) used += 1;
    }
    if (part !== undefined) {
      text += slice(template, from, i) + part;
      from = i + 2;
    }
    if (part !== undefined || directive === '%') i += 1;
  }
  return { __proto__: null, text: text + slice(template, from), used };
}

function fillDirective(directive, value) {
  switch (directive) {
    case 's': return directiveText(value);
    case 'd':
      if (typeof value === 'bigint') return value + 'n';
      return typeof value === 'symbol' ? 'NaN' : showNumber(quietly(() => Number(value), NaN));
    case 'i':
      if (typeof value === 'bigint') return value + 'n';
      return typeof value === 'symbol' ? 'NaN' : showNumber(quietly(() => parseInt(value), NaN));
    case 'f': return typeof value === 'symbol' ? 'NaN' : showNumber(quietly(() => parseFloat(value), NaN));
    case 'j': return quietly(() => toText(jsonStringify(value)), '[Circular]');
    case 'o': return inspect(value, { __proto__: null, showHidden: true, showProxy: true, depth: 4 });
    case 'O': return inspect(value);
    case 'c': return '';
    default: return undefined;
  }
}

function quietly(work, otherwise) {
  try {
    return work();
  } catch {
    return otherwise;
  }
}

/** `%s`: a string is itself, an object with a `toString` of its own class uses it, anything else is inspected. */
function directiveText(value) {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return showNumber(value);
  if (typeof value === 'bigint') return value + 'n';
  if (!isObject(value)) return typeof value === 'symbol' ? symbolText(value) : toText(value);
  if (nativeProxyTarget(value) === undefined && (typeof value === 'function' || hasOwnText(value))) {
    const text = quietly(() => toText(String(value)), undefined);
    if (text !== undefined) return text;
  }
  return inspect(value, { __proto__: null, depth: 0 });
}

function hasOwnText(value) {
  return quietly(() => {
    for (let holder = value, i = 0; holder !== null && i < PROTOTYPES_MAX; holder = prototypeOf(holder), i++) {
      if (holder === ObjectPrototype || mapHas(kindOfPrototype, holder)) return false;
      if (holder === Array.prototype || holder === TypedArrayPrototype) return false;
      if (hasOwn(holder, 'toString') || hasOwn(holder, Symbol.toPrimitive)) return true;
    }
    return false;
  }, false);
}

/** Room for one more label, or a single complaint about it. */
function hasRoom(labels, label) {
  if (mapHas(labels, label) || mapSize(labels) < CONSOLE_LABELS_MAX) return true;
  if (!saidLabelsFull) print(STDERR, 'Warning: console keeps ' + CONSOLE_LABELS_MAX + ' labels; further ones are ignored');
  saidLabelsFull = true;
  return false;
}

const labelOf = (label) => slice(label === undefined ? 'default' : directiveText(label), 0, CONSOLE_LABEL_CHARS_MAX);

function elapsedText(milliseconds) {
  if (milliseconds < 1_000) return (+numberToFixed(milliseconds, 3)) + 'ms';
  const seconds = milliseconds / 1_000;
  if (seconds < 60) return numberToFixed(seconds, 3) + 's';
  const minutes = floor(seconds / 60);
  const rest = padStart(numberToFixed(seconds % 60, 3), 6, '0');
  if (minutes < 60) return minutes + ':' + rest + ' (m:ss.mmm)';
  return floor(minutes / 60) + ':' + padStart(toText(minutes % 60), 2, '0') + ':' + slice(rest, 0, 2) + ' (h:mm:ss)';
}

function timerText(name, label) {
  const started = mapGet(consoleTimers, label);
  if (started !== undefined) return label + ': ' + elapsedText(max(0, nativeNow('console.' + name + '()') - started));
  print(STDERR, 'Warning: No such label \'' + label + '\' for console.' + name + '()');
  return undefined;
}

function openGroup(values) {
  if (values.length > 0) print(STDOUT, formatArguments(values));
  if (consoleGroups < CONSOLE_GROUPS_MAX) {
    consoleGroups += 1;
    return;
  }
  if (!saidGroupsFull) print(STDERR, 'Warning: console keeps ' + CONSOLE_GROUPS_MAX + ' groups; deeper ones are ignored');
  saidGroupsFull = true;
}

const consoleMethods = {
  log(...data) { print(STDOUT, formatArguments(data)); },
  warn(...data) { print(STDERR, formatArguments(data)); },
  dir(item, options) {
    const given = isObject(options) ? options : undefined;
    const read = (name, otherwise) => (given === undefined ? otherwise : readQuietly(given, name) ?? otherwise);
    const depth = given === undefined ? undefined : readQuietly(given, 'depth');
    print(STDOUT, inspect(item, { __proto__: null, customInspect: read('customInspect', false), depth,
      showHidden: read('showHidden', false), breakLength: read('breakLength', 80), compact: read('compact', 3),
      maxArrayLength: given === undefined ? undefined : readQuietly(given, 'maxArrayLength'),
      maxStringLength: given === undefined ? undefined : readQuietly(given, 'maxStringLength'),
      sorted: read('sorted', false) }));
  },
  time(label = 'default') {
    const name = labelOf(label);
    if (mapHas(consoleTimers, name)) print(STDERR, 'Warning: Label \'' + name + '\' already exists for console.time()');
    else if (hasRoom(consoleTimers, name)) mapSet(consoleTimers, name, nativeNow('console.time()'));
  },
  timeEnd(label = 'default') {
    const name = labelOf(label);
    const text = timerText('timeEnd', name);
    if (text === undefined) return;
    print(STDOUT, text);
    mapDelete(consoleTimers, name);
  },
  timeLog(label = 'default', ...data) {
    const text = timerText('timeLog', labelOf(label));
    if (text === undefined) return;
    print(STDOUT, data.length === 0 ? text : text + ' ' + formatArguments(data));
  },
  trace(...data) {
    const stack = quietly(() => stackOf(new Error(''), '', ''), '');
    const frames = indexOf(stack, '    at ');
    const text = data.length === 0 ? 'Trace' : 'Trace: ' + formatArguments(data);
    print(STDERR, frames === -1 ? text : text + '\n' + slice(stack, frames));
  },
  assert(condition, ...data) {
    if (condition) return;
    print(STDERR, data.length === 0 ? 'Assertion failed' : 'Assertion failed: ' + formatArguments(data));
  },
  count(label = 'default') {
    const name = labelOf(label);
    const count = (mapGet(consoleCounts, name) ?? 0) + 1;
    if (hasRoom(consoleCounts, name)) mapSet(consoleCounts, name, count);
    print(STDOUT, name + ': ' + count);
  },
  countReset(label = 'default') {
    const name = labelOf(label);
    if (!mapDelete(consoleCounts, name)) print(STDERR, 'Warning: Count for \'' + name + '\' does not exist');
  },
  group(...data) { openGroup(data); },
  groupEnd() { consoleGroups = max(0, consoleGroups - 1); },
  table(data, properties) {
    const text = isObject(data) ? quietly(() => tableText(data, properties), undefined) : undefined;
    print(STDOUT, text ?? formatArguments([data]));
  },
  debug(...data) { print(STDOUT, formatArguments(data)); },
  info(...data) { print(STDOUT, formatArguments(data)); },
  dirxml(...data) { print(STDOUT, formatArguments(data)); },
  error(...data) { print(STDERR, formatArguments(data)); },
  groupCollapsed(...data) { openGroup(data); },
};

{
  const guestConsole = {};
  const names = ownKeys(consoleMethods);
  for (let i = 0; i < names.length; i++) defineVisible(guestConsole, names[i], consoleMethods[names[i]]);
  defineProperty(guestConsole, symbolToStringTag, { __proto__: null, value: 'console', writable: false, enumerable: false, configurable: true });
  defineGlobal('console', guestConsole);
}

/** Rows and columns with a box round them. Undefined when the data is not tabular. */
function tableText(data, properties) {
  const columns = newList();
  const rows = newList();
  let plainValues = false;
  const shown = (value) => {
    const crowded = isObject(value) && typeof value !== 'function' && !quietly(() => isArray(value), false) && countKeys(value) > 2;
    return inspect(value, { __proto__: null, depth: crowded ? -1 : 0, maxArrayLength: 3, breakLength: Infinity });
  };
  const addRow = (index, value) => {
    const cells = { __proto__: null };
    let own = '';
    if (isObject(value) && typeof value !== 'function') {
      const seen = behindProxy(value) ?? noKey;
      const keys = ownKeys(seen);
      for (let i = 0; i < keys.length && columns.length < TABLE_COLUMNS_MAX; i++) {
        const key = keys[i];
        if (typeof key === 'symbol' || !isEnumerable(seen, key)) continue;
        if (properties !== undefined && !includesText(properties, key)) continue;
        if (listIndexOf(columns, key) === -1) push(columns, key);
        const descriptor = getOwnPropertyDescriptor(seen, key);
        cells[key] = hasOwn(descriptor, 'value') ? shown(descriptor.value) : '[Getter]';
      }
    } else {
      own = shown(value);
      plainValues = true;
    }
    push(rows, { __proto__: null, index, cells, own });
  };
  let indexTitle = '(index)';
  let keyed = false;
  const source = behindProxy(data) ?? noKey;
  if (properties !== undefined && isArray(properties)) {
    for (let i = 0; i < properties.length && i < TABLE_COLUMNS_MAX; i++) push(columns, toText(directiveText(properties[i])));
  }
  if (brands.Map(source)) {
    indexTitle = '(iteration index)';
    keyed = true;
    const iterator = mapEntries(source);
    for (let i = 0, step = mapNext(iterator); !step.done && i < TABLE_ROWS_MAX; i++, step = mapNext(iterator)) {
      push(rows, { __proto__: null, index: toText(i), key: shown(step.value[0]), cells: { __proto__: null }, own: shown(step.value[1]) });
    }
    plainValues = true;
  } else if (brands.Set(source)) {
    indexTitle = '(iteration index)';
    const iterator = setValues(source);
    for (let i = 0, step = setNext(iterator); !step.done && i < TABLE_ROWS_MAX; i++, step = setNext(iterator)) addRow(toText(i), step.value);
  } else {
    const keys = ownKeys(source);
    for (let i = 0; i < keys.length && rows.length < TABLE_ROWS_MAX; i++) {
      if (typeof keys[i] === 'symbol' || !isEnumerable(source, keys[i])) continue;
      const descriptor = getOwnPropertyDescriptor(source, keys[i]);
      addRow(escapeControls(keys[i]), hasOwn(descriptor, 'value') ? descriptor.value : undefined);
    }
  }

  const titles = newList();
  push(titles, indexTitle);
  if (keyed) push(titles, 'Key');
  for (let i = 0; i < columns.length; i++) push(titles, escapeControls(columns[i]));
  if (plainValues) push(titles, 'Values');
  const lines = newList();
  for (let i = 0; i < rows.length; i++) {
    const cells = newList();
    push(cells, rows[i].index);
    if (keyed) push(cells, rows[i].key);
    for (let j = 0; j < columns.length; j++) push(cells, rows[i].cells[columns[j]] ?? '');
    if (plainValues) push(cells, rows[i].own);
    push(lines, cells);
  }
  return boxTable(titles, lines);
}

const countKeys = (value) => quietly(() => shownKeys(noKey, behindProxy(value) ?? noKey, false).length, 0);

function includesText(properties, key) {
  if (!isArray(properties)) return true;
  for (let i = 0; i < properties.length; i++) if (toText(directiveText(properties[i])) === key) return true;
  return false;
}

function boxTable(titles, lines) {
  const widths = newList();
  for (let i = 0; i < titles.length; i++) {
    let width = textWidth(titles[i]);
    for (let j = 0; j < lines.length; j++) width = max(width, textWidth(lines[j][i]));
    push(widths, width + 2);
  }
  const rule = (left, middle, right) => {
    const parts = newList();
    for (let i = 0; i < widths.length; i++) push(parts, repeat('─', widths[i]));
    return left + join(parts, middle) + right;
  };
  const row = (cells) => {
    const parts = newList();
    for (let i = 0; i < cells.length; i++) {
      push(parts, ' ' + cells[i] + repeat(' ', widths[i] - textWidth(cells[i]) - 1));
    }
    return '│' + join(parts, '│') + '│';
  };
  let text = rule('┌', '┬', '┐') + '\n' + row(titles) + '\n' + rule('├', '┼', '┤') + '\n';
  for (let i = 0; i < lines.length; i++) {
    if (text.length > INSPECT_CHARS_MAX) return text + '...';
    text += row(lines[i]) + '\n';
  }
  return text + rule('└', '┴', '┘');
}

/** Columns a text takes on a terminal: two for wide characters, none for combining ones. */
function textWidth(text) {
  let width = 0;
  for (let i = 0; i < text.length; i++) {
    const point = codePointAt(text, i);
    if (point > 0xffff) i += 1;
    if (point < 0x20 || (point >= 0x7f && point < 0xa0) || (point >= 0x300 && point <= 0x36f) || point === 0x200b || point === 0x200d ||
      (point >= 0xfe00 && point <= 0xfe0f)) continue;
    const wide = point >= 0x1100 && (point <= 0x115f || (point >= 0x2e80 && point <= 0xa4cf) || (point >= 0xac00 && point <= 0xd7a3) ||
      (point >= 0xf900 && point <= 0xfaff) || (point >= 0xfe30 && point <= 0xfe6f) || (point >= 0xff00 && point <= 0xff60) ||
      (point >= 0xffe0 && point <= 0xffe6) || (point >= 0x1f300 && point <= 0x1f64f) || (point >= 0x1f900 && point <= 0x1f9ff) ||
      (point >= 0x20000 && point <= 0x3fffd));
    width += wide ? 2 : 1;
  }
  return width;
}
