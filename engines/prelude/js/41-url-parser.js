// The URL parser of the WHATWG standard, by sections instead of by characters. A record holds the parts; `host` and
// `path` are kept as they are written, `path` as a list of segments or as one opaque string.

const ENCODE_C0 = 1;
const ENCODE_FRAGMENT = 2;
const ENCODE_QUERY = 4;
const ENCODE_SPECIAL_QUERY = 8;
const ENCODE_PATH = 16;
const ENCODE_USERINFO = 32;
const ENCODE_FORM = 64;

/** For each ASCII code unit, the sets in which it is percent-encoded. */
const encodeSets = new Uint8Array(128);
{
  const mark = (set, units) => { for (let i = 0; i < units.length; i++) encodeSets[charCodeAt(units, i)] |= set; };
  for (let i = 0; i < 128; i++) if (i < 0x20 || i === 0x7f) encodeSets[i] = 127;
  mark(ENCODE_FRAGMENT, ' "<>`');
  mark(ENCODE_QUERY, ' "#<>');
  mark(ENCODE_SPECIAL_QUERY, ' "#<>\'');
  mark(ENCODE_PATH, ' "#<>?^`{}');
  mark(ENCODE_USERINFO, ' "#<>?^`{}/:;=@[\\]|');
  for (let i = 0x20; i < 0x7f; i++) {
    if (!isAlpha(i) && !isDigit(i) && i !== 42 && i !== 45 && i !== 46 && i !== 95) encodeSets[i] |= ENCODE_FORM;
  }
}
const HEX = '0123456789ABCDEF';
const percentByte = (byte) => '%' + HEX[byte >> 4] + HEX[byte & 15];
function percentCodePoint(point) {
  if (point < 0x80) return percentByte(point);
  const last = percentByte(0x80 | (point & 63));
  if (point < 0x800) return percentByte(0xc0 | (point >> 6)) + last;
  const third = percentByte(0x80 | ((point >> 6) & 63)) + last;
  if (point < 0x10000) return percentByte(0xe0 | (point >> 12)) + third;
  return percentByte(0xf0 | (point >> 18)) + percentByte(0x80 | ((point >> 12) & 63)) + third;
}

/** Encodes what belongs to the set, and everything beyond ASCII. The text is well-formed. */
function percentEncode(text, set) {
  let encoded = '';
  let from = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = charCodeAt(text, i);
    if (unit < 0x80 && (encodeSets[unit] & set) === 0) continue;
    const point = codePointAt(text, i);
    encoded += slice(text, from, i) + percentCodePoint(point);
    if (point > 0xffff) i += 1;
    from = i + 1;
  }
  return from === 0 ? text : encoded + slice(text, from);
}

/** The bytes of a text with `%XX` resolved. */
function percentDecode(text) {
  const bytes = encodeUtf8(text);
  const length = typedLength(bytes);
  let to = 0;
  for (let i = 0; i < length; i++) {
    let byte = bytes[i];
    if (byte === 0x25 && i + 2 < length) {
      const high = hexValue(bytes[i + 1]);
      const low = hexValue(bytes[i + 2]);
      if (high !== -1 && low !== -1) {
        byte = high * 16 + low;
        i += 2;
      }
    }
    bytes[to] = byte;
    to += 1;
  }
  return copyBytes(bytes, 0, to);
}

const SPECIAL_PORTS = freeze({ __proto__: null, 'http': 80, 'https': 443, 'ws': 80, 'wss': 443, 'ftp': 21, 'file': null });
const isSpecial = (url) => SPECIAL_PORTS[url.scheme] !== undefined;
const hasOpaquePath = (url) => typeof url.path === 'string';
const hasCredentials = (url) => url.username !== '' || url.password !== '';
const isSlash = (char, special) => char === '/' || (special && char === '\\');
const isDriveLetter = (text) => text.length === 2 && isAlpha(charCodeAt(text, 0)) && (text[1] === ':' || text[1] === '|');
const isNormalDriveLetter = (text) => isDriveLetter(text) && text[1] === ':';
const startsWithDriveLetter = (text) =>
  text.length >= 2 && isDriveLetter(slice(text, 0, 2)) && (text.length === 2 || isSlash(text[2], true));

const newUrlRecord = () => ({ __proto__: null, scheme: '', username: '', password: '', host: null, port: null, path: newList(), query: null, fragment: null });

function removeTabsAndNewlines(text) {
  let made = '';
  let from = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = charCodeAt(text, i);
    if (unit !== 9 && unit !== 10 && unit !== 13) continue;
    made += slice(text, from, i);
    from = i + 1;
  }
  return from === 0 ? text : made + slice(text, from);
}

function trimControls(text) {
  let from = 0;
  let to = text.length;
  while (from < to && charCodeAt(text, from) <= 0x20) from += 1;
  while (to > from && charCodeAt(text, to - 1) <= 0x20) to -= 1;
  return slice(text, from, to);
}

/** The length of a scheme before its colon, or -1. */
function schemeLength(text) {
  if (text === '' || !isAlpha(charCodeAt(text, 0))) return -1;
  for (let i = 1; i < text.length; i++) {
    const unit = charCodeAt(text, i);
    if (unit === 58) return i;
    if (!isAlpha(unit) && !isDigit(unit) && unit !== 43 && unit !== 45 && unit !== 46) return -1;
  }
  return -1;
}

/** The record of a URL in which parsing changes nothing; its path begins at `at`. */
function plainRecord(text, at) {
  const url = newUrlRecord();
  url.scheme = text[4] === 's' ? 'https' : 'http';
  const authority = slice(text, url.scheme.length + 3, at);
  const colon = indexOf(authority, ':');
  url.host = colon === -1 ? authority : slice(authority, 0, colon);
  if (colon !== -1) url.port = +slice(authority, colon + 1);
  const mark = indexOf(text, '?', at);
  url.path = split(slice(text, at + 1, mark === -1 ? text.length : mark), '/');
  if (mark !== -1) url.query = slice(text, mark + 1);
  return url;
}

/** A record, or undefined when the input is no URL. The input is well-formed; `base` is a record or undefined. */
function parseUrl(given, base) {
  const at = nativePlainUrl(given);
  if (at !== 0) return plainRecord(given, at);
  let rest = removeTabsAndNewlines(trimControls(given));
  const url = newUrlRecord();
  const colon = schemeLength(rest);
  if (colon !== -1) {
    url.scheme = toLowerCase(slice(rest, 0, colon));
    rest = slice(rest, colon + 1);
  } else if (base === undefined) return undefined;

  const hash = indexOf(rest, '#');
  const fragment = hash === -1 ? null : percentEncode(slice(rest, hash + 1), ENCODE_FRAGMENT);
  if (hash !== -1) rest = slice(rest, 0, hash);
  const mark = indexOf(rest, '?');
  const query = mark === -1 ? null : slice(rest, mark + 1);
  if (mark !== -1) rest = slice(rest, 0, mark);

  if (colon === -1) {
    if (hasOpaquePath(base) && (rest !== '' || query !== null || hash === -1)) return undefined;
    url.scheme = base.scheme;
  }
  const done = parseAfterScheme(url, rest, base, colon !== -1, query !== null);
  if (!done) return undefined;
  if (query !== null) url.query = encodeQuery(url, query);
  url.fragment = fragment;
  return url;
}

const encodeQuery = (url, query) => percentEncode(query, isSpecial(url) ? ENCODE_SPECIAL_QUERY : ENCODE_QUERY);

function parseAfterScheme(url, rest, base, hasScheme, hasQuery) {
  const special = isSpecial(url);
  if (!hasScheme && hasOpaquePath(base)) {
    url.path = base.path;
    url.query = base.query;
    return true;
  }
  if (url.scheme === 'file') return parseFile(url, rest, base !== undefined && base.scheme === 'file' ? base : undefined, hasQuery);
  if (!hasScheme) return parseRelative(url, rest, base, hasQuery);
  if (special) {
    if (base !== undefined && base.scheme === url.scheme && !startsWith(rest, '//')) return parseRelative(url, rest, base, hasQuery);
    return parseAuthority(url, skipSlashes(rest));
  }
  if (startsWith(rest, '//')) return parseAuthority(url, slice(rest, 2));
  if (rest[0] === '/') return parsePath(url, slice(rest, 1));
  url.path = percentEncode(rest, ENCODE_C0);
  return true;
}

function skipSlashes(text) {
  let at = 0;
  while (at < text.length && isSlash(text[at], true)) at += 1;
  return slice(text, at);
}

function parseRelative(url, rest, base, hasQuery) {
  const special = isSpecial(url);
  if (isSlash(rest[0], special)) {
    if (special && isSlash(rest[1], true)) return parseAuthority(url, skipSlashes(rest));
    if (rest[1] === '/') return parseAuthority(url, slice(rest, 2));
    copyAuthority(url, base);
    return parsePath(url, slice(rest, 1));
  }
  copyAuthority(url, base);
  url.path = copyList(base.path);
  if (rest === '') {
    url.query = hasQuery ? null : base.query;
    return true;
  }
  shortenPath(url);
  return parsePath(url, rest);
}

function copyAuthority(url, base) {
  url.username = base.username;
  url.password = base.password;
  url.host = base.host;
  url.port = base.port;
}
const copyList = (list) => {
  const copy = newList();
  for (let i = 0; i < list.length; i++) push(copy, list[i]);
  return copy;
};

function parseFile(url, rest, base, hasQuery) {
  url.host = '';
  if (isSlash(rest[0], true)) {
    if (isSlash(rest[1], true)) return parseFileHost(url, slice(rest, 2));
    const after = slice(rest, 1);
    if (base !== undefined) {
      url.host = base.host;
      if (!startsWithDriveLetter(after) && base.path.length > 0 && isNormalDriveLetter(base.path[0])) push(url.path, base.path[0]);
    }
    return parsePath(url, after);
  }
  if (base === undefined) return parsePath(url, rest);
  url.host = base.host;
  url.path = copyList(base.path);
  if (rest === '') {
    url.query = hasQuery ? null : base.query;
    return true;
  }
  if (startsWithDriveLetter(rest)) url.path = newList();
  else shortenPath(url);
  return parsePath(url, rest);
}

function parseFileHost(url, rest) {
  let end = 0;
  while (end < rest.length && !isSlash(rest[end], true)) end += 1;
  const name = slice(rest, 0, end);
  if (isDriveLetter(name)) return parsePath(url, rest);
  if (name !== '') {
    const host = parseHost(name, true);
    if (host === undefined) return false;
    url.host = host === 'localhost' ? '' : host;
  }
  return parsePathStart(url, slice(rest, end));
}

function parseAuthority(url, rest) {
  const special = isSpecial(url);
  let end = 0;
  while (end < rest.length && !isSlash(rest[end], special)) end += 1;
  const authority = slice(rest, 0, end);
  const at = lastIndexOf(authority, '@');
  const hostAndPort = slice(authority, at + 1);
  if (at !== -1) {
    if (hostAndPort === '') return false;
    const credentials = slice(authority, 0, at);
    const colon = indexOf(credentials, ':');
    url.username = percentEncode(colon === -1 ? credentials : slice(credentials, 0, colon), ENCODE_USERINFO);
    if (colon !== -1) url.password = percentEncode(slice(credentials, colon + 1), ENCODE_USERINFO);
  }
  const colon = portColon(hostAndPort);
  const name = colon === -1 ? hostAndPort : slice(hostAndPort, 0, colon);
  if (name === '' && (special || colon !== -1)) return false;
  const host = name === '' ? '' : parseHost(name, special);
  if (host === undefined) return false;
  url.host = host;
  if (colon !== -1 && !setPort(url, slice(hostAndPort, colon + 1))) return false;
  return parsePathStart(url, slice(rest, end));
}

/** Where the port begins: the first colon outside brackets, or -1. */
function portColon(text) {
  let inside = false;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '[') inside = true;
    else if (text[i] === ']') inside = false;
    else if (text[i] === ':' && !inside) return i;
  }
  return -1;
}

/** Takes digits only; the scheme's own port becomes null. An empty text leaves the port as it is. */
function setPort(url, digits) {
  if (digits === '') return true;
  let port = 0;
  for (let i = 0; i < digits.length; i++) {
    const unit = charCodeAt(digits, i);
    if (!isDigit(unit)) return false;
    port = port * 10 + unit - 48;
    if (port > 65535) return false;
  }
  url.port = port === SPECIAL_PORTS[url.scheme] ? null : port;
  return true;
}

function parsePathStart(url, rest) {
  if (isSpecial(url)) return parsePath(url, isSlash(rest[0], true) ? slice(rest, 1) : rest);
  return rest === '' ? true : parsePath(url, slice(rest, 1));
}

const isSingleDot = (segment) => segment === '.' || toLowerCase(segment) === '%2e';
const isDoubleDot = (segment) => {
  if (segment.length < 2 || segment.length > 6) return false;
  const lower = replaceAll(toLowerCase(segment), '%2e', '.');
  return lower === '..';
};

/** Appends the segments of `rest`, whose leading slash is already gone. */
function parsePath(url, rest) {
  const special = isSpecial(url);
  let from = 0;
  for (let i = 0; i <= rest.length; i++) {
    const ended = i === rest.length;
    if (!ended && !isSlash(rest[i], special)) continue;
    let segment = percentEncode(slice(rest, from, i), ENCODE_PATH);
    from = i + 1;
    if (isDoubleDot(segment)) {
      shortenPath(url);
      if (ended) push(url.path, '');
    } else if (isSingleDot(segment)) {
      if (ended) push(url.path, '');
    } else {
      if (url.scheme === 'file' && url.path.length === 0 && isDriveLetter(segment)) segment = segment[0] + ':';
      push(url.path, segment);
    }
  }
  return true;
}

function shortenPath(url) {
  const { path } = url;
  if (url.scheme === 'file' && path.length === 1 && isNormalDriveLetter(path[0])) return;
  if (path.length > 0) path.length -= 1;
}

const serializePath = (url) => {
  if (hasOpaquePath(url)) return url.path;
  return url.path.length === 0 ? '' : '/' + join(url.path, '/');
};
const serializeHost = (url) => (url.host === null ? '' : url.port === null ? url.host : url.host + ':' + url.port);
function serializeUrl(url, withoutFragment = false) {
  let text = url.scheme + ':';
  if (url.host !== null) {
    text += '//';
    if (hasCredentials(url)) text += '' + url.username + (url.password === '' ? '' : ':' + url.password) + '@';
    text += serializeHost(url);
  } else if (!hasOpaquePath(url) && url.path.length > 1 && url.path[0] === '') text += '/.';
  text += serializePath(url);
  if (url.query !== null) text += '?' + url.query;
  return url.fragment === null || withoutFragment ? text : text + '#' + url.fragment;
}

function originOf(url) {
  if (url.scheme === 'blob') {
    const inner = hasOpaquePath(url) ? parseUrl(url.path, undefined) : undefined;
    return inner !== undefined && (inner.scheme === 'http' || inner.scheme === 'https') ? originOf(inner) : 'null';
  }
  return isSpecial(url) && url.scheme !== 'file' ? url.scheme + '://' + serializeHost(url) : 'null';
}
