// crypto: digests and HMAC against Node's webcrypto.
const bytes = 'new Uint8Array([1, 2, 3])';
const hex = '((b) => [...new Uint8Array(b)].map((x) => x.toString(16).padStart(2, "0")).join(""))';
const key = (hash, usages = "['sign', 'verify']") => `crypto.subtle.importKey('raw', ${bytes}, {name: 'HMAC', hash: '${hash}'}, true, ${usages})`;

export default async function check({ same, fresh, is }) {
  const hashes = ['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512'];
  await same('crypto', [
    ...hashes.map((hash) => `crypto.subtle.digest('${hash}', ${bytes}).then(${hex})`),
    ...hashes.map((hash) => `${key(hash)}.then((k) => crypto.subtle.sign('HMAC', k, ${bytes})).then(${hex})`),
    ...hashes.map((hash) => `${key(hash)}.then((k) => crypto.subtle.exportKey('jwk', k))`),
    ...hashes.map((hash) => `crypto.subtle.generateKey({name: 'HMAC', hash: '${hash}'}, true, ['sign']).then((k) => [k.algorithm.name, k.algorithm.length, k.algorithm.hash.name, k.type, k.extractable, k.usages])`),
    `crypto.subtle.digest({name: 'sha-256'}, ${bytes}.buffer).then(${hex})`,
    `crypto.subtle.digest('MD5', ${bytes})`,
    `crypto.subtle.digest('SHA-256', 'x')`,
    `crypto.subtle.digest('SHA-256')`,
    `crypto.subtle.digest(5, ${bytes})`,
    `${key('SHA-256')}.then((k) => crypto.subtle.exportKey('raw', k)).then(${hex})`,
    `${key('SHA-256')}.then((k) => [k.type, k.extractable, k.algorithm, k.usages, Object.prototype.toString.call(k)])`,
    `${key('SHA-256', "['sign']")}.then((k) => crypto.subtle.verify('HMAC', k, ${bytes}, ${bytes}))`,
    `${key('SHA-256', '[]')}`,
    `${key('SHA-256', "['encrypt']")}`,
    `${key('SHA-256', "['nope']")}`,
    `crypto.subtle.importKey('raw', ${bytes}, {name: 'HMAC', hash: 'SHA-256'}, false, ['sign']).then((k) => crypto.subtle.exportKey('raw', k))`,
    `crypto.subtle.importKey('raw', new Uint8Array(0), {name: 'HMAC', hash: 'SHA-256'}, false, ['sign'])`,
    `crypto.subtle.importKey('jwk', {kty: 'oct', k: 'AQID', alg: 'HS256', ext: true}, {name: 'HMAC', hash: 'SHA-256'}, true, ['sign']).then((k) => crypto.subtle.exportKey('raw', k)).then(${hex})`,
    `crypto.subtle.importKey('jwk', {kty: 'oct', k: 'AQID', alg: 'HS512'}, {name: 'HMAC', hash: 'SHA-256'}, true, ['sign'])`,
    `crypto.subtle.importKey('jwk', {kty: 'RSA'}, {name: 'HMAC', hash: 'SHA-256'}, true, ['sign'])`,
    `(async () => { const k = await ${key('SHA-256')}; const s = await crypto.subtle.sign('HMAC', k, ${bytes}); return [await crypto.subtle.verify('HMAC', k, s, ${bytes}), await crypto.subtle.verify('HMAC', k, s, new Uint8Array(1)), await crypto.subtle.verify('HMAC', k, new Uint8Array(3), ${bytes})]; })()`,
    `crypto.subtle.generateKey({name: 'HMAC', hash: 'SHA-256', length: 64}, true, ['sign']).then((k) => crypto.subtle.exportKey('raw', k)).then((b) => b.byteLength)`,
    `/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID())`,
    `crypto.randomUUID() !== crypto.randomUUID()`,
    `crypto.getRandomValues(new Uint8Array(16)).some((b) => b !== 0)`,
    `(() => { const a = new Uint32Array(4); return crypto.getRandomValues(a) === a; })()`,
    `crypto.getRandomValues(new Float32Array(1))`,
    `crypto.getRandomValues(new Uint8Array(65537))`,
    `crypto.getRandomValues(new Uint8Array(65536)).length`,
    `crypto.getRandomValues([1])`,
    `crypto.getRandomValues()`,
    `new Crypto()`,
    `new CryptoKey()`,
    `Object.prototype.toString.call(crypto) + Object.prototype.toString.call(crypto.subtle)`,
  ]);
  const guest = fresh();
  const refused = await guest.run(`Promise.all([crypto.subtle.encrypt({name: 'AES-GCM'}), crypto.subtle.generateKey({name: 'RSA-OAEP'}, true, []), crypto.subtle.deriveBits({name: 'PBKDF2'}),
    crypto.subtle.importKey('raw', new Uint8Array(1), 'AES-GCM', true, [])].map((p) => p.then(() => 'ok', (e) => e.name)))`);
  is('crypto', 'other algorithms are refused by name', [...refused], Array(4).fill('NotSupportedError'));
}
