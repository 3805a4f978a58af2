// URL hosts: domain names (with their Unicode mapping and Punycode), IPv4 in all its spellings, IPv6, opaque hosts.

const PUNYCODE = freeze({ __proto__: null, base: 36, tMin: 1, tMax: 26, skew: 38, damp: 700, bias: 72, n: 128 });
const LABEL_CHARS_MAX = 2_000; // Punycode is quadratic; no real label is near this

const regExpExec = uncurry(RegExp.prototype.exec);
const matches = (pattern, text) => regExpExec(pattern, text) !== null;
// Unassigned, private, surrogate and control code points, separators and directional marks have no place in a name.
const DISALLOWED_IN_NAME = /[\p{Cn}\p{Co}\p{Cs}\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f\ufff9-\ufffd\u{e0001}-\u{e007f}]/u;
const IGNORED_IN_NAME = /^[\u00ad\u034f\u180b-\u180d\u180f\u200b\u2060\u2064\ufe00-\ufe0f\ufeff\u{e0100}-\u{e01ef}]$/u;
const STARTS_WITH_MARK = /^\p{M}/u;
const VIRAMA = /[\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca\u0e3a\u0f84\u1039\u103a\u1714\u17d2][\u200c\u200d]/u;

const isAlpha = (unit) => (unit >= 97 && unit <= 122) || (unit >= 65 && unit <= 90);
const isDigit = (unit) => unit >= 48 && unit <= 57;
const hexValue = (unit) => {
  if (isDigit(unit)) return unit - 48;
  const lower = unit | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
};
const isAscii = (text) => {
  for (let i = 0; i < text.length; i++) if (charCodeAt(text, i) > 0x7f) return false;
  return true;
};

const FORBIDDEN_HOST = '\0\t\n\r #/:<>?@[\\]^|';
const isForbiddenInHost = (unit) => includes(FORBIDDEN_HOST, fromCharCode(unit));
const isForbiddenInDomain = (unit) => unit <= 0x1f || unit === 0x25 || unit === 0x7f || isForbiddenInHost(unit);
const hasForbidden = (text, forbidden) => {
  for (let i = 0; i < text.length; i++) if (forbidden(charCodeAt(text, i))) return true;
  return false;
};

/** The host as it is written in a URL; undefined when it is not one. */
function parseHost(input, special) {
  if (input[0] === '[') {
    if (input[input.length - 1] !== ']') return undefined;
    const pieces = parseIPv6(slice(input, 1, -1));
    return pieces === undefined ? undefined : '[' + serializeIPv6(pieces) + ']';
  }
  if (!special) return hasForbidden(input, isForbiddenInHost) ? undefined : percentEncode(input, ENCODE_C0);
  const domain = domainToAscii(includes(input, '%') ? nativeUtf8Decode(percentDecode(input), false) : input);
  if (domain === undefined || domain === '' || hasForbidden(domain, isForbiddenInDomain)) return undefined;
  return endsInNumber(domain) ? parseIPv4(domain) : domain;
}

/** UTS 46 in short: lower case, compatibility composition, ignorable characters dropped, labels in Punycode. */
function domainToAscii(domain) {
  if (isAscii(domain)) {
    const lower = toLowerCase(domain);
    if (!includes(lower, 'xn--')) return lower;
  }
  const mapped = mapName(domain);
  if (mapped === undefined) return undefined;
  const labels = split(mapped, '.');
  for (let i = 0; i < labels.length; i++) {
    const label = labelToAscii(labels[i]);
    if (label === undefined) return undefined;
    labels[i] = label;
  }
  return join(labels, '.');
}

function mapName(name) {
  let folded = '';
  for (let i = 0; i < name.length; i++) {
    const point = codePointAt(name, i);
    if (point > 0xffff) i += 1;
    // One at a time: on a whole text a final sigma would get its own form.
    const letter = fromCodePoint(point);
    if (point > 0x7f && matches(IGNORED_IN_NAME, letter)) continue;
    folded += toLowerCase(letter);
  }
  let composed = normalize(folded, 'NFKC');
  let lower = '';
  for (let i = 0; i < composed.length; i++) {
    const point = codePointAt(composed, i);
    if (point > 0xffff) i += 1;
    lower += toLowerCase(fromCodePoint(point));
  }
  composed = replaceAll(normalize(lower, 'NFC'), '\u3002', '.');
  for (let i = 0; i < composed.length; i++) {
    if (charCodeAt(composed, i) > 0x7e && matches(DISALLOWED_IN_NAME, composed)) return undefined;
  }
  return composed;
}

function labelToAscii(label) {
  if (label.length > LABEL_CHARS_MAX) return undefined;
  if (startsWith(label, 'xn--')) {
    if (!isAscii(label)) return undefined;
    const decoded = punycodeDecode(slice(label, 4));
    if (decoded === undefined || isAscii(decoded) || mapName(decoded) !== decoded || !isValidLabel(decoded)) return undefined;
    return label;
  }
  if (isAscii(label)) return label;
  return isValidLabel(label) ? 'xn--' + punycodeEncode(label) : undefined;
}

function isValidLabel(label) {
  if (matches(STARTS_WITH_MARK, label)) return false;
  return !(includes(label, '\u200c') || includes(label, '\u200d')) || matches(VIRAMA, label);
}

function adaptBias(delta, count, first) {
  let rest = first ? floor(delta / PUNYCODE.damp) : delta >> 1;
  rest += floor(rest / count);
  let k = 0;
  while (rest > ((PUNYCODE.base - PUNYCODE.tMin) * PUNYCODE.tMax) >> 1) {
    rest = floor(rest / (PUNYCODE.base - PUNYCODE.tMin));
    k += PUNYCODE.base;
  }
  return k + floor((PUNYCODE.base - PUNYCODE.tMin + 1) * rest / (rest + PUNYCODE.skew));
}
const punycodeThreshold = (k, bias) => min(max(k - bias, PUNYCODE.tMin), PUNYCODE.tMax);
const punycodeDigit = (value) => fromCharCode(value < 26 ? value + 97 : value + 22);

function punycodeEncode(label) {
  const points = newList();
  let text = '';
  for (let i = 0; i < label.length; i++) {
    const point = codePointAt(label, i);
    if (point > 0xffff) i += 1;
    push(points, point);
    if (point < 0x80) text += fromCharCode(point);
  }
  let handled = text.length;
  const basic = handled;
  if (basic > 0) text += '-';
  let { n, bias } = PUNYCODE;
  let delta = 0;
  while (handled < points.length) {
    let next = 0x110000;
    for (let i = 0; i < points.length; i++) if (points[i] >= n && points[i] < next) next = points[i];
    delta += (next - n) * (handled + 1);
    n = next;
    for (let i = 0; i < points.length; i++) {
      if (points[i] < n) delta += 1;
      if (points[i] !== n) continue;
      let q = delta;
      for (let k = PUNYCODE.base; ; k += PUNYCODE.base) {
        const t = punycodeThreshold(k, bias);
        if (q < t) break;
        text += punycodeDigit(t + (q - t) % (PUNYCODE.base - t));
        q = floor((q - t) / (PUNYCODE.base - t));
      }
      text += punycodeDigit(q);
      bias = adaptBias(delta, handled + 1, handled === basic);
      delta = 0;
      handled += 1;
    }
    delta += 1;
    n += 1;
  }
  return text;
}

/** Undefined when the text is not Punycode of valid code points. */
function punycodeDecode(text) {
  const points = newList();
  const basic = max(0, lastIndexOf(text, '-'));
  for (let i = 0; i < basic; i++) push(points, charCodeAt(text, i));
  let { n, bias } = PUNYCODE;
  let i = 0;
  for (let at = basic > 0 ? basic + 1 : 0; at < text.length;) {
    const before = i;
    let weight = 1;
    for (let k = PUNYCODE.base; ; k += PUNYCODE.base) {
      if (at >= text.length) return undefined;
      const unit = charCodeAt(text, at);
      at += 1;
      const digit = isDigit(unit) ? unit - 22 : isAlpha(unit) ? (unit | 32) - 97 : -1;
      if (digit === -1) return undefined;
      i += digit * weight;
      if (i > 0x7fffffff) return undefined;
      const t = punycodeThreshold(k, bias);
      if (digit < t) break;
      weight *= PUNYCODE.base - t;
    }
    bias = adaptBias(i - before, points.length + 1, before === 0);
    n += floor(i / (points.length + 1));
    if (n > 0x10ffff || (n >= 0xd800 && n <= 0xdfff)) return undefined;
    i %= points.length + 1;
    push(points, 0);
    for (let j = points.length - 1; j > i; j--) points[j] = points[j - 1];
    points[i] = n;
    i += 1;
  }
  let label = '';
  for (let j = 0; j < points.length; j++) label += fromCodePoint(points[j]);
  return label;
}

/** One number of an IPv4 address: decimal, octal after `0`, hexadecimal after `0x`. Undefined when it is none. */
function parseIPv4Number(text) {
  if (text === '') return undefined;
  let radix = 10;
  let from = 0;
  if (text.length >= 2 && text[0] === '0') {
    const hex = text[1] === 'x' || text[1] === 'X';
    radix = hex ? 16 : 8;
    from = hex ? 2 : 1;
  }
  let value = 0;
  for (let i = from; i < text.length; i++) {
    const digit = hexValue(charCodeAt(text, i));
    if (digit === -1 || digit >= radix) return undefined;
    value = value * radix + digit;
  }
  return value;
}

function endsInNumber(domain) {
  const parts = split(domain, '.');
  if (parts[parts.length - 1] === '') {
    if (parts.length === 1) return false;
    parts.length -= 1;
  }
  const last = parts[parts.length - 1];
  let digits = last !== '';
  for (let i = 0; i < last.length && digits; i++) digits = isDigit(charCodeAt(last, i));
  return digits || parseIPv4Number(last) !== undefined;
}

function parseIPv4(domain) {
  const parts = split(domain, '.');
  if (parts[parts.length - 1] === '' && parts.length > 1) parts.length -= 1;
  if (parts.length > 4) return undefined;
  let address = 0;
  for (let i = 0; i < parts.length; i++) {
    const number = parseIPv4Number(parts[i]);
    const last = i === parts.length - 1;
    if (number === undefined || number >= (last ? 256 ** (5 - parts.length) : 256)) return undefined;
    address += last ? number : number * 256 ** (3 - i);
  }
  return floor(address / 0x1000000) + '.' + (floor(address / 0x10000) % 256) + '.' + (floor(address / 256) % 256) + '.' + (address % 256);
}

/** Eight 16-bit pieces, or undefined. */
function parseIPv6(text) {
  const pieces = newList();
  let compress = -1;
  let at = 0;
  if (text[0] === ':') {
    if (text[1] !== ':') return undefined;
    at = 2;
    compress = 0;
  }
  while (at < text.length) {
    if (pieces.length === 8) return undefined;
    if (text[at] === ':') {
      if (compress !== -1) return undefined;
      at += 1;
      compress = pieces.length;
      continue;
    }
    const start = at;
    let value = 0;
    while (at < text.length && at - start < 4 && hexValue(charCodeAt(text, at)) !== -1) {
      value = value * 16 + hexValue(charCodeAt(text, at));
      at += 1;
    }
    if (text[at] === '.') {
      if (at === start || pieces.length > 6 || !pushIPv4Pieces(pieces, slice(text, start))) return undefined;
      at = text.length;
      break;
    }
    if (at < text.length) {
      if (text[at] !== ':' || at === start || at + 1 === text.length) return undefined;
      at += 1;
    }
    push(pieces, value);
  }
  if (compress === -1) return pieces.length === 8 ? pieces : undefined;
  if (pieces.length === 8) return undefined;
  const whole = newList();
  for (let i = 0; i < compress; i++) push(whole, pieces[i]);
  for (let i = pieces.length; i < 8; i++) push(whole, 0);
  for (let i = compress; i < pieces.length; i++) push(whole, pieces[i]);
  return whole;
}

/** The dotted tail of an IPv6 address: exactly four plain decimal numbers. */
function pushIPv4Pieces(pieces, text) {
  const parts = split(text, '.');
  if (parts.length !== 4) return false;
  for (let i = 0; i < 4; i++) {
    const part = parts[i];
    if (part === '' || part.length > 3 || (part.length > 1 && part[0] === '0')) return false;
    for (let j = 0; j < part.length; j++) if (!isDigit(charCodeAt(part, j))) return false;
    if (+part > 255) return false;
  }
  push(pieces, +parts[0] * 256 + +parts[1]);
  push(pieces, +parts[2] * 256 + +parts[3]);
  return true;
}

function serializeIPv6(pieces) {
  let best = -1;
  let bestLength = 1;
  for (let i = 0; i < 8; i++) {
    let end = i;
    while (end < 8 && pieces[end] === 0) end += 1;
    if (end - i > bestLength) {
      best = i;
      bestLength = end - i;
    }
    if (end > i) i = end;
  }
  let text = '';
  for (let i = 0; i < 8; i++) {
    if (i === best) {
      text += i === 0 ? '::' : ':';
      i += bestLength - 1;
      continue;
    }
    text += numberToString(pieces[i], 16);
    if (i < 7) text += ':';
  }
  return text;
}
