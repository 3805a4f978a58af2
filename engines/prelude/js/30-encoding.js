// Encoding: TextEncoder, TextDecoder, atob and btoa.

/** A string with lone surrogates replaced, which the platform calls a USVString. */
const wellFormed = (value) => toWellFormed(toText(value));

const encodeUtf8 = (text) => nativeUtf8Encode(text);

class TextEncoder {
  get encoding() { return 'utf-8'; }
  encode(input = '') { return encodeUtf8(toText(input)); }
  encodeInto(source, destination) {
    const text = toText(source);
    if (typedTag(destination) !== 'Uint8Array') throw new TypeError('The "dest" argument must be an instance of Uint8Array');
    const room = typedLength(destination);
    let read = 0;
    let written = 0;
    while (read < text.length) {
      let point = codePointAt(text, read);
      const units = point > 0xffff ? 2 : 1;
      if (point >= 0xd800 && point <= 0xdfff) point = 0xfffd;
      const size = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
      if (written + size > room) break;
      if (size === 1) destination[written] = point;
      else {
        destination[written] = (size === 2 ? 0xc0 : size === 3 ? 0xe0 : 0xf0) | (point >> (6 * (size - 1)));
        for (let i = 1; i < size; i++) destination[written + i] = 0x80 | ((point >> (6 * (size - 1 - i))) & 0x3f);
      }
      written += size;
      read += units;
    }
    return { read, written };
  }
}
publish(TextEncoder);
showAs(TextEncoder, () => ({ fields: { encoding: 'utf-8' } }));

const encodingLabels = { __proto__: null };
{
  const known = [
    ['utf-8', 'unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8'],
    ['utf-16le', 'csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le'],
    ['utf-16be', 'unicodefffe utf-16be'],
    ['windows-1252', 'ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252'],
  ];
  for (let i = 0; i < known.length; i++) {
    const labels = split(known[i][1], ' ');
    for (let j = 0; j < labels.length; j++) encodingLabels[labels[j]] = known[i][0];
  }
}
/** 0x80 to 0x9f in windows-1252. */
const WINDOWS_1252_HIGH = '\u20ac\u0081\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u008d\u017d\u008f' +
  '\u0090\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u009d\u017e\u0178';

class TextDecoder {
  #encoding;
  #fatal;
  #ignoreBOM;
  #held = NO_BYTES; // the beginning of a character whose end is still to come
  #started = false; // whether the place of a byte order mark has passed

  constructor(label = 'utf-8', options = undefined) {
    const encoding = encodingLabels[toLowerCase(trimAscii(toText(label)))];
    if (encoding === undefined) throw new RangeError('The "' + label + '" encoding is not supported');
    this.#encoding = encoding;
    this.#fatal = Boolean(options?.fatal);
    this.#ignoreBOM = Boolean(options?.ignoreBOM);
  }

  get encoding() { return this.#encoding; }
  get fatal() { return this.#fatal; }
  get ignoreBOM() { return this.#ignoreBOM; }

  decode(input = undefined, options = undefined) {
    let bytes = input === undefined ? NO_BYTES : bytesView(input);
    if (bytes === undefined) throw new TypeError('The "input" argument must be an ArrayBuffer or a view of one');
    const stream = Boolean(options?.stream);
    if (typedLength(this.#held) > 0) bytes = concatBytes([this.#held, bytes]);
    this.#held = NO_BYTES;
    let complete = typedLength(bytes);
    if (stream) {
      complete -= this.#encoding === 'utf-8' ? unfinishedUtf8(bytes) : unfinishedUtf16(bytes, this.#encoding);
      this.#held = copyBytes(bytes, complete);
      bytes = copyBytes(bytes, 0, complete);
    }
    let text;
    try {
      text = decodeAs[this.#encoding](bytes, this.#fatal);
    } catch (error) {
      this.#held = NO_BYTES;
      this.#started = false;
      throw error;
    }
    if (!this.#started && text !== '') {
      this.#started = true;
      if (!this.#ignoreBOM && this.#encoding !== 'windows-1252' && charCodeAt(text, 0) === 0xfeff) text = slice(text, 1);
    }
    if (!stream) this.#started = false;
    return text;
  }
}
defineProperty(TextDecoder, 'length', { __proto__: null, value: 0, writable: false, enumerable: false, configurable: true });
publish(TextDecoder);
showAs(TextDecoder, (decoder) => ({ fields: { encoding: decoder.encoding, fatal: decoder.fatal, ignoreBOM: decoder.ignoreBOM } }));

const decodeAs = {
  __proto__: null,
  'utf-8': (bytes, fatal) => nativeUtf8Decode(bytes, fatal),
  'utf-16le': (bytes, fatal) => decodeUtf16(bytes, fatal, 0),
  'utf-16be': (bytes, fatal) => decodeUtf16(bytes, fatal, 1),
  'windows-1252': (bytes) => {
    let text = '';
    const length = typedLength(bytes);
    for (let i = 0; i < length; i++) text += bytes[i] >= 0x80 && bytes[i] <= 0x9f ? WINDOWS_1252_HIGH[bytes[i] - 0x80] : fromCharCode(bytes[i]);
    return text;
  },
};

function decodeUtf16(bytes, fatal, high) {
  const length = typedLength(bytes);
  let text = '';
  for (let i = 0; i + 1 < length; i += 2) text += fromCharCode((bytes[i + 1 - high] << 8) | bytes[i + high]);
  const whole = wellFormed(text) + (length % 2 === 1 ? '\ufffd' : '');
  if (fatal && whole !== text) throw new TypeError('The encoded data was not valid for encoding utf-16');
  return whole;
}

/** How many bytes at the end begin a UTF-8 sequence that could still become valid. */
function unfinishedUtf8(bytes) {
  const length = typedLength(bytes);
  for (let back = 1; back <= 3 && back <= length; back++) {
    const lead = bytes[length - back];
    if ((lead & 0xc0) === 0x80) continue;
    const size = lead >= 0xf0 && lead <= 0xf4 ? 4 : lead >= 0xe0 && lead < 0xf0 ? 3 : lead >= 0xc2 && lead < 0xe0 ? 2 : 1;
    if (size <= back) return 0;
    if (back > 1) {
      const second = bytes[length - back + 1];
      if ((lead === 0xe0 && second < 0xa0) || (lead === 0xed && second > 0x9f) || (lead === 0xf0 && second < 0x90) ||
        (lead === 0xf4 && second > 0x8f)) return 0;
    }
    return back;
  }
  return 0;
}

function unfinishedUtf16(bytes, encoding) {
  if (encoding === 'windows-1252') return 0;
  const length = typedLength(bytes);
  const odd = length % 2;
  if (length - odd < 2) return odd;
  const high = encoding === 'utf-16be' ? bytes[length - odd - 2] : bytes[length - odd - 1];
  return high >= 0xd8 && high <= 0xdb ? odd + 2 : odd;
}

const isAsciiSpace = (unit) => unit === 32 || unit === 9 || unit === 10 || unit === 12 || unit === 13;
function trimAscii(text) {
  let from = 0;
  let to = text.length;
  while (from < to && isAsciiSpace(charCodeAt(text, from))) from += 1;
  while (to > from && isAsciiSpace(charCodeAt(text, to - 1))) to -= 1;
  return slice(text, from, to);
}
