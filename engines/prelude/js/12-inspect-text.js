// Inspection, the text: primitives, quoting, errors, and how parts are laid out on lines.

const LONG_TEXT_MIN = 16;
/** Arrays of more parts than this are set in columns. */
const COLUMNS_FROM = 6;
const COLUMNS_MAX = 15;

function showPrimitive(context, value) {
  switch (typeof value) {
    case 'string': return showString(context, value);
    case 'number': return showNumber(value);
    case 'bigint': return value + 'n';
    case 'symbol': return escapeControls(symbolText(value));
    default: return toText(value);
  }
}

const showNumber = (value) => (sameValue(value, -0) ? '-0' : toText(value));

function showString(context, given) {
  let text = given;
  let trailer = '';
  if (text.length > context.maxStringLength) {
    trailer = '... ' + plural(text.length - context.maxStringLength, 'more character');
    text = slice(text, 0, context.maxStringLength);
  }
  if (text.length > LONG_TEXT_MIN && text.length > context.breakLength - context.indentation - 4 && includes(text, '\n')) {
    const lines = split(text, '\n');
    const parts = newList();
    for (let i = 0; i < lines.length; i++) {
      const line = i === lines.length - 1 ? lines[i] : lines[i] + '\n';
      if (line !== '') push(parts, quote(line));
    }
    return join(parts, ' +\n' + repeat(' ', context.indentation + 2)) + trailer;
  }
  return quote(text) + trailer;
}

/** In single quotes, unless others need fewer escapes. */
function quote(text) {
  let mark = "'";
  if (includes(text, "'")) {
    if (!includes(text, '"')) mark = '"';
    else if (!includes(text, '`') && !includes(text, '${')) mark = '`';
  }
  return mark + escapeControls(text, mark) + mark;
}

const SHORT_ESCAPES = { __proto__: null, 8: '\\b', 9: '\\t', 10: '\\n', 12: '\\f', 13: '\\r', 92: '\\\\' };

/** Control characters and lone surrogates as escapes; with a `mark`, that quotation mark and backslashes too. */
function escapeControls(text, mark) {
  let escaped = '';
  let from = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = charCodeAt(text, i);
    let other;
    if (unit < 32 || (unit >= 127 && unit <= 159)) {
      other = SHORT_ESCAPES[unit] ?? ('\\x' + padStart(toUpperCase(numberToString(unit, 16)), 2, '0'));
    } else if (mark !== undefined && (unit === 92 || text[i] === mark)) other = '\\' + text[i];
    else if (unit >= 0xd800 && unit <= 0xdfff) {
      const next = i + 1 < text.length ? charCodeAt(text, i + 1) : 0;
      if (unit <= 0xdbff && next >= 0xdc00 && next <= 0xdfff) i += 1;
      else other = '\\u' + numberToString(unit, 16);
    }
    if (other === undefined) continue;
    escaped += slice(text, from, i) + other;
    from = i + 1;
  }
  return from === 0 ? text : escaped + slice(text, from);
}

/** `Name: message` and the stack. Removes from `keys` what the text already says, and adds `cause` and `errors`. */
function describeError(context, error, constructor, tag, keys) {
  const rawName = readQuietly(error, 'name');
  const name = typeof rawName === 'string' ? rawName : 'Error';
  const rawMessage = readQuietly(error, 'message');
  const message = typeof rawMessage === 'string' ? rawMessage : '';
  let stack = stackOf(error, name, message);
  if (!context.showHidden) {
    const said = [['name', name], ['message', message], ['stack', readQuietly(error, 'stack')]];
    for (let i = 0; i < said.length; i++) {
      const at = listIndexOf(keys, said[i][0]);
      if (at !== -1 && typeof said[i][1] === 'string' && (said[i][0] === 'stack' || includes(stack, said[i][1]))) listRemove(keys, at);
    }
  }
  if (findDescriptor(error, 'cause') !== undefined && listIndexOf(keys, 'cause') === -1 && hasOwn(error, 'cause')) push(keys, 'cause');
  if (hasOwn(error, 'errors') && isArray(dataOf(getOwnPropertyDescriptor(error, 'errors'))) && listIndexOf(keys, 'errors') === -1) {
    push(keys, 'errors');
  }
  stack = nameClass(stack, constructor, name, tag);
  const after = message === '' ? 0 : max(0, indexOf(stack, message)) + message.length;
  if (indexOf(stack, '\n    at', after) === -1) stack = '[' + stack + ']';
  return indentLines(stack, context.indentation);
}

/** V8 puts the name and message before the frames, QuickJS does not; both come out the same. */
function stackOf(error, name, message) {
  const header = message === '' ? name : name === '' ? message : name + ': ' + message;
  const stack = readQuietly(error, 'stack');
  if (typeof stack !== 'string' || stack === '') return header;
  const framesOnly = startsWith(stack, '    at ');
  const text = framesOnly ? header + '\n' + stack : stack;
  return withoutOwnFrames(endsWith(text, '\n') ? slice(text, 0, -1) : text);
}

const PRELUDE_FILE = 'isolith:prelude';
/** Frames of the prelude itself say nothing to the author of a program. */
function withoutOwnFrames(stack) {
  if (!includes(stack, PRELUDE_FILE)) return stack;
  const lines = split(stack, '\n');
  const kept = newList();
  for (let i = 0; i < lines.length; i++) {
    if (!(startsWith(lines[i], '    at ') && includes(lines[i], PRELUDE_FILE))) push(kept, lines[i]);
  }
  return join(kept, '\n');
}

/** Makes the first line name the class of the error when `name` alone would not. */
function nameClass(stack, constructor, name, tag) {
  let { length } = name;
  const next = stack[length];
  const named = endsWith(name, 'Error') && startsWith(stack, name) && (stack.length === length || next === ':' || next === '\n');
  if (constructor !== null && !named) return stack;
  let fallback = 'Error';
  if (constructor === null) {
    const end = indexOf(stack, ':');
    fallback = named ? name : slice(stack, 0, max(0, end));
    length = fallback.length;
    if (fallback === '') fallback = 'Error';
  }
  const prefix = slice(prefixOf(constructor, tag, fallback), 0, -1);
  if (name === prefix) return stack;
  if (!includes(prefix, name)) return prefix + ' [' + name + ']' + slice(stack, length);
  return length === 0 ? prefix + ': ' + stack : '' + prefix + slice(stack, length);
}

/**
 * Puts the parts between braces: on one line when they fit and nest little, in columns for long arrays, else on a line
 * each. `level` is that of the parts.
 */
function layOut(context, given, base, open, close, groups, level, value) {
  const head = base === '' ? open : base + ' ' + open;
  let parts = given;
  if (context.compact >= 1) {
    if (groups && given.length > COLUMNS_FROM) parts = inColumns(context, given, value);
    if (context.deepest - level < context.compact && parts === given) {
      const start = parts.length + context.indentation + open.length + base.length + 10;
      if (fitsLine(context, parts, start, base)) {
        const line = join(parts, ', ');
        if (!includes(line, '\n')) return head + ' ' + line + ' ' + close;
      }
    }
  }
  const margin = '\n' + repeat(' ', context.indentation);
  return '' + head + margin + '  ' + join(parts, ',' + margin + '  ') + margin + close;
}

function fitsLine(context, parts, start, base) {
  let total = parts.length + start;
  if (total + parts.length > context.breakLength) return false;
  for (let i = 0; i < parts.length; i++) {
    total += parts[i].length;
    if (total > context.breakLength) return false;
  }
  return !includes(base, '\n');
}

/** Joins several short parts to a line so that columns line up; gives the same list back when that reads no better. */
function inColumns(context, parts, value) {
  const count = context.maxArrayLength < parts.length ? parts.length - 1 : parts.length; // the last says "more items"
  let total = 0;
  let longest = 0;
  for (let i = 0; i < count; i++) {
    total += parts[i].length + 2;
    longest = max(longest, parts[i].length);
  }
  const widest = longest + 2;
  if (widest * 3 + context.indentation >= context.breakLength || !(total / widest > 5 || longest <= 6)) return parts;
  const biased = max(widest - 3 - sqrt(widest - total / parts.length), 1);
  const columns = min(round(sqrt(2.5 * biased * count) / biased), floor((context.breakLength - context.indentation) / widest),
    context.compact * 4, COLUMNS_MAX);
  if (columns <= 1) return parts;
  const widths = newList();
  for (let column = 0; column < columns; column++) {
    let width = 0;
    for (let i = column; i < count; i += columns) width = max(width, parts[i].length);
    push(widths, width + 2);
  }
  const pad = allNumbers(value, parts.length) ? padStart : padEnd;
  const lines = newList();
  for (let i = 0; i < count; i += columns) {
    const end = min(i + columns, count);
    let line = '';
    for (let j = i; j < end - 1; j++) line += pad(parts[j] + ', ', widths[j - i], ' ');
    line += pad === padStart ? padStart(parts[end - 1], widths[end - 1 - i] - 2, ' ') : parts[end - 1];
    push(lines, line);
  }
  if (count < parts.length) push(lines, parts[count]);
  return lines;
}

function allNumbers(value, count) {
  if (value === undefined) return true;
  for (let i = 0; i < count; i++) {
    const element = dataOf(getOwnPropertyDescriptor(value, i));
    if (typeof element !== 'number' && typeof element !== 'bigint') return false;
  }
  return true;
}
