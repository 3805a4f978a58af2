// Crypto: random values from the host, digests, HMAC. Everything else is refused by name.

const RANDOM_BYTES_MAX = 65_536;
const HASHES = freeze({ __proto__: null, 'SHA-1': 512, 'SHA-256': 512, 'SHA-384': 1024, 'SHA-512': 1024 }); // block size in bits
const KEY_USAGES = 'encrypt decrypt sign verify deriveKey deriveBits wrapKey unwrapKey';
const JWK_HMAC = freeze({ __proto__: null, 'SHA-1': 'HS1', 'SHA-256': 'HS256', 'SHA-384': 'HS384', 'SHA-512': 'HS512' });
const cryptoMaker = freeze({ __proto__: null });

const unsupported = (what) => new DOMException(what + ' is not supported', 'NotSupportedError');
const algorithmName = (algorithm) => {
  const name = isObject(algorithm) ? algorithm.name : algorithm;
  if (name === undefined) throw new TypeError('The algorithm has no name');
  return toUpperCase(toText(name));
};
const hashName = (algorithm) => {
  const name = algorithmName(algorithm);
  if (HASHES[name] === undefined) throw new DOMException('Unrecognized algorithm name', 'NotSupportedError');
  return name;
};
const requireHmac = (algorithm) => { if (algorithmName(algorithm) !== 'HMAC') throw new DOMException('Unrecognized algorithm name', 'NotSupportedError'); };
const requireBytes = (data, name) => {
  const view = isObject(data) ? bytesView(data) : undefined;
  if (view === undefined) throw new TypeError('The "' + name + '" argument must be an ArrayBuffer or a view of one');
  return copyBytes(view);
};

class CryptoKey {
  #algorithm;
  #extractable;
  #usages;
  #bytes;
  constructor() {
    if (arguments[0] !== cryptoMaker) throw new TypeError('Illegal constructor');
    this.#bytes = arguments[1];
    this.#algorithm = arguments[2];
    this.#extractable = arguments[3];
    this.#usages = arguments[4];
  }
  get type() { return 'secret'; }
  get extractable() { return this.#extractable; }
  get algorithm() { return this.#algorithm; }
  get usages() { return toArray(this.#usages); }
  static inside() {
    return {
      bytesFor: (key, usage) => {
        if (!isObject(key) || !(#bytes in key)) throw new TypeError('The "key" argument must be a CryptoKey');
        if (usage !== undefined && listIndexOf(key.#usages, usage) === -1) {
          throw new DOMException('The key does not allow "' + usage + '"', 'InvalidAccessError');
        }
        return key.#bytes;
      },
      usagesOf: (key) => key.#usages,
    };
  }
}
const { bytesFor: keyBytes, usagesOf: keyUsages } = CryptoKey.inside();
delete CryptoKey.inside;
publish(CryptoKey);
const keyAlgorithm = uncurryGetter(CryptoKey.prototype, 'algorithm');
const keyExtractable = uncurryGetter(CryptoKey.prototype, 'extractable');
const keyHashes = new WeakMap();
showAs(CryptoKey, (key) => ({ fields: { type: 'secret', extractable: keyExtractable(key), algorithm: keyAlgorithm(key), usages: toArray(keyUsages(key)) } }));

function readUsages(usages) {
  const known = split(KEY_USAGES, ' ');
  const list = newList();
  for (const usage of usages) {
    const name = toText(usage);
    if (listIndexOf(known, name) === -1) throw new TypeError('"' + name + '" is not a key usage');
    if (name !== 'sign' && name !== 'verify') throw new DOMException('Unsupported key usage for an HMAC key', 'SyntaxError');
    if (listIndexOf(list, name) === -1) push(list, name);
  }
  if (list.length === 0) throw new DOMException('Usages cannot be empty when creating a key.', 'SyntaxError');
  return list;
}

function makeHmacKey(bytes, hash, length, extractable, usages) {
  const key = new CryptoKey(cryptoMaker, bytes, { name: 'HMAC', hash: { name: hash }, length }, Boolean(extractable), usages);
  weakMapSet(keyHashes, key, hash);
  return key;
}

const bytesOfJwk = (jwk, hash, extractable) => {
  if (!isObject(jwk)) throw new TypeError('The "keyData" argument must be a JSON Web Key');
  if (jwk.kty !== 'oct') throw new DOMException('The key is not an octet sequence', 'DataError');
  if (jwk.alg !== undefined && jwk.alg !== JWK_HMAC[hash]) throw new DOMException('JWK "alg" does not match the requested algorithm', 'DataError');
  if (jwk.use !== undefined && jwk.use !== 'sig') throw new DOMException('JWK "use" is not "sig"', 'DataError');
  if (jwk.ext === false && extractable) throw new DOMException('JWK "ext" forbids an extractable key', 'DataError');
  const bytes = typeof jwk.k === 'string' ? fromBase64(jwk.k, true) : undefined;
  if (bytes === undefined) throw new DOMException('JWK "k" is not base64url', 'DataError');
  return bytes;
};

class SubtleCrypto {
  constructor() { if (arguments[0] !== cryptoMaker) throw new TypeError('Illegal constructor'); }

  async digest(algorithm, data) {
    requireArguments(arguments, 2, 'digest');
    return typedBuffer(copyBytes(nativeDigest(hashName(algorithm), requireBytes(data, 'data'))));
  }
  async importKey(format, keyData, algorithm, extractable, usages) {
    requireArguments(arguments, 5, 'importKey');
    requireHmac(algorithm);
    const hash = hashName(algorithm.hash);
    const allowed = readUsages(usages);
    let bytes;
    if (format === 'raw') bytes = requireBytes(keyData, 'keyData');
    else if (format === 'jwk') bytes = bytesOfJwk(keyData, hash, extractable);
    else throw unsupported('The key format "' + format + '"');
    const bits = typedLength(bytes) * 8;
    if (bits === 0) throw new DOMException('Zero-length key is not supported', 'DataError');
    const { length } = algorithm;
    if (length !== undefined && (length > bits || length <= bits - 8)) throw new DOMException('Invalid key length', 'DataError');
    return makeHmacKey(bytes, hash, length === undefined ? bits : trunc(+length), extractable, allowed);
  }
  async generateKey(algorithm, extractable, usages) {
    requireArguments(arguments, 3, 'generateKey');
    requireHmac(algorithm);
    const hash = hashName(algorithm.hash);
    const allowed = readUsages(usages);
    const bits = algorithm.length === undefined ? HASHES[hash] : trunc(+algorithm.length);
    if (!(bits > 0 && bits <= RANDOM_BYTES_MAX * 8)) throw new DOMException('Invalid key length', 'OperationError');
    const bytes = new Uint8Array(ceil(bits / 8));
    nativeRandomFill(bytes, 'crypto.subtle.generateKey()');
    return makeHmacKey(bytes, hash, bits, extractable, allowed);
  }
  async exportKey(format, key) {
    requireArguments(arguments, 2, 'exportKey');
    const bytes = keyBytes(key);
    if (!keyExtractable(key)) throw new DOMException('key is not extractable', 'InvalidAccessError');
    if (format === 'raw') return typedBuffer(copyBytes(bytes));
    if (format !== 'jwk') throw unsupported('The key format "' + format + '"');
    const k = replaceAll(replaceAll(replaceAll(toBase64(bytes), '+', '-'), '/', '_'), '=', '');
    return { key_ops: toArray(keyUsages(key)), ext: true, kty: 'oct', k, alg: JWK_HMAC[weakMapGet(keyHashes, key)] };
  }
  async sign(algorithm, key, data) {
    requireArguments(arguments, 3, 'sign');
    requireHmac(algorithm);
    const bytes = keyBytes(key, 'sign');
    return typedBuffer(copyBytes(nativeHmac(weakMapGet(keyHashes, key), bytes, requireBytes(data, 'data'))));
  }
  async verify(algorithm, key, signature, data) {
    requireArguments(arguments, 4, 'verify');
    requireHmac(algorithm);
    const bytes = keyBytes(key, 'verify');
    const given = requireBytes(signature, 'signature');
    const expected = nativeHmac(weakMapGet(keyHashes, key), bytes, requireBytes(data, 'data'));
    const length = typedLength(expected);
    // Every byte is compared, so that the time tells nothing about where they differ.
    let difference = typedLength(given) ^ length;
    for (let i = 0; i < length; i++) difference |= expected[i] ^ given[i];
    return difference === 0;
  }
  async encrypt() { throw unsupported('encrypt'); }
  async decrypt() { throw unsupported('decrypt'); }
  async deriveBits() { throw unsupported('deriveBits'); }
  async deriveKey() { throw unsupported('deriveKey'); }
  async wrapKey() { throw unsupported('wrapKey'); }
  async unwrapKey() { throw unsupported('unwrapKey'); }
}
publish(SubtleCrypto);
const subtle = new SubtleCrypto(cryptoMaker);

const RANDOM_KINDS = freeze({ __proto__: null, Int8Array: true, Uint8Array: true, Uint8ClampedArray: true, Int16Array: true, Uint16Array: true,
  Int32Array: true, Uint32Array: true, BigInt64Array: true, BigUint64Array: true });

class Crypto {
  constructor() { if (arguments[0] !== cryptoMaker) throw new TypeError('Illegal constructor'); }
  get subtle() { return subtle; }
  getRandomValues(array) {
    requireArguments(arguments, 1, 'getRandomValues');
    const tag = isObject(array) ? typedTag(array) : undefined;
    if (tag === undefined || !RANDOM_KINDS[tag]) throw new DOMException('The data argument must be an integer-type TypedArray', 'TypeMismatchError');
    const bytes = new Uint8Array(typedBuffer(array), typedByteOffset(array), typedByteLength(array));
    if (typedLength(bytes) > RANDOM_BYTES_MAX) {
      throw new DOMException('The requested length exceeds ' + RANDOM_BYTES_MAX + ' bytes', 'QuotaExceededError');
    }
    if (typedLength(bytes) > 0) nativeRandomFill(bytes, 'crypto.getRandomValues()');
    return array;
  }
  randomUUID() {
    const bytes = new Uint8Array(16);
    nativeRandomFill(bytes, 'crypto.randomUUID()');
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let text = '';
    for (let i = 0; i < 16; i++) {
      text += '' + (i === 4 || i === 6 || i === 8 || i === 10 ? '-' : '') + padStart(numberToString(bytes[i], 16), 2, '0');
    }
    return text;
  }
}
publish(Crypto);
defineGlobal('crypto', new Crypto(cryptoMaker));
