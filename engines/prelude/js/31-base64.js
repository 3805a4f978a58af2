// Base64: atob and btoa for the guest, and byte forms for inside (JSON Web Keys use the URL alphabet).

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const base64Value = (unit) => {
  if (unit >= 65 && unit <= 90) return unit - 65;
  if (unit >= 97 && unit <= 122) return unit - 71;
  if (unit >= 48 && unit <= 57) return unit + 4;
  return unit === 43 || unit === 45 ? 62 : unit === 47 || unit === 95 ? 63 : -1;
};

function toBase64(bytes) {
  const length = typedLength(bytes);
  let text = '';
  for (let i = 0; i < length; i += 3) {
    const left = length - i;
    const group = (bytes[i] << 16) | ((left > 1 ? bytes[i + 1] : 0) << 8) | (left > 2 ? bytes[i + 2] : 0);
    text += BASE64[group >> 18] + BASE64[(group >> 12) & 63] + (left > 1 ? BASE64[(group >> 6) & 63] : '=') + (left > 2 ? BASE64[group & 63] : '=');
  }
  return text;
}

/** Bytes of forgiving base64; undefined when malformed. `url` takes the alphabet with `-` and `_` instead. */
function fromBase64(given, url) {
  let text = '';
  let from = 0;
  for (let i = 0; i < given.length; i++) {
    if (!isAsciiSpace(charCodeAt(given, i))) continue;
    text += slice(given, from, i);
    from = i + 1;
  }
  text = from === 0 ? given : text + slice(given, from);
  let { length } = text;
  if (length % 4 === 0 && length > 0 && text[length - 1] === '=') length -= text[length - 2] === '=' ? 2 : 1;
  if (length % 4 === 1) return undefined;
  const bytes = new Uint8Array(floor(length * 3 / 4));
  let group = 0;
  let bits = 0;
  let at = 0;
  for (let i = 0; i < length; i++) {
    const unit = charCodeAt(text, i);
    const value = base64Value(unit);
    if (value === -1 || (value >= 62 && (unit === 45 || unit === 95) !== url)) return undefined;
    group = ((group << 6) | value) & 0xffffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[at] = (group >> bits) & 0xff;
      at += 1;
    }
  }
  return bytes;
}

const base64Functions = {
  btoa(data) {
    requireArguments(arguments, 1, 'btoa');
    const text = toText(data);
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) {
      const unit = charCodeAt(text, i);
      if (unit > 0xff) throw new DOMException('Invalid character', 'InvalidCharacterError');
      bytes[i] = unit;
    }
    return toBase64(bytes);
  },
  atob(data) {
    requireArguments(arguments, 1, 'atob');
    const bytes = fromBase64(toText(data), false);
    if (bytes === undefined) throw new DOMException('The string to be decoded is not correctly encoded.', 'InvalidCharacterError');
    const length = typedLength(bytes);
    let text = '';
    for (let i = 0; i < length; i++) text += fromCharCode(bytes[i]);
    return text;
  },
};
defineGlobal('btoa', base64Functions.btoa);
defineGlobal('atob', base64Functions.atob);
