// Where the prelude deliberately differs from Node 20, and why. A listed case must differ, or the check fails.
const rows = [
  ['control characters in a symbol are escaped, so that a name cannot draw on a terminal', [
    "inspect: [Symbol('a\\nb')]",
  ]],
  ['an object of the platform beyond the depth shows its class, as other objects do', [
    "inspect: {a:{b:{c:new URL('http://a/')}}}",
  ]],
  ['header names are kept in lower case, which is how they are compared and sent', [
    "inspect: new Headers({b:'2','X-A':'1'})",
  ]],
  ['the URL Standard encodes ^ in paths; Node 20 predates that', [
    'url: ["http://h/a b\\"c<d>e`f{g}h|i^j",""]',
    'url: ["http://h/a b\\"c<d>e`f{g}h|i^j","http://base.com/x/y?z#w"]',
  ]],
  ['the URL Standard; Node 20 has errors with relative references and setters on schemes that are not special', [
    'url: ["../../..","foo:/p/q"]', 'url: ["a?b#c","mailto:x"]', 'url: ["foo://a:81/p","host",":9"]', 'url: ["foo:/p","host",""]', 'url: ["foo://a/b","pathname","/.."]',
  ]],
  ['WebIDL: constants are on the prototype too, and members are enumerable', [
    'events: [Event.NONE, Event.AT_TARGET, Event.prototype.BUBBLING_PHASE]', 'events: Object.keys(AbortSignal.prototype).sort().join()',
  ]],
  ['HTML: a platform object is no data, only transferable objects are transferred, and the function takes one argument', [
    'clone: new AbortController()', 'clone: structuredClone(1, {transfer: [{}]})', 'clone: structuredClone.name + structuredClone.length',
  ]],
  ['the File API converts a lone carriage return as well', [
    "fetch: new Blob(['a\\r\\nb\\rc\\n'], {endings: 'native'}).text()",
  ]],
  ['XMLHttpRequest Standard: both arguments of FormData are optional', [
    'fetch: [Response.length, Request.length, Headers.length, Blob.length, File.length, FormData.length]',
  ]],
  ['the name of the exception in the Web Cryptography API; Node 20 has a slip', [
    "crypto: crypto.subtle.importKey('raw', new Uint8Array([1, 2, 3]), {name: 'HMAC', hash: 'SHA-256'}, false, ['sign']).then((k) => crypto.subtle.exportKey('raw', k))",
  ]],
  ['two digits are given where they are asked for', [
    "intl: new Intl.DateTimeFormat('es-ES', {month: '2-digit', year: 'numeric'}).format(new Date(Date.UTC(2024, 2, 5, 15, 4, 9, 78)))",
  ]],
  ['a weekday stands before the time in every locale', [
    "intl: new Intl.DateTimeFormat('ja-JP', {weekday: 'long', hour: 'numeric', minute: '2-digit'}).format(new Date(Date.UTC(2024, 2, 5, 15, 4, 9, 78)))",
  ]],
  ['midnight is 00 on a 24-hour clock', [
    "intl: new Date(0).toLocaleTimeString('en-US', {hour12: false})",
  ]],
  ['one space before AM and PM, in texts and in parts alike', [
    "intl: new Intl.DateTimeFormat('en-US', {dateStyle: 'long', timeStyle: 'short'}).formatToParts(new Date(0))",
  ]],
  ['what a body of one\'s own throws is what the fetch rejects with, and duplex can be left out', [
    "network: const r = await fetch('/echo', { method: 'POST', duplex: 'half', body: (async function* () { yield new Uint8Array(1); throw new RangeError('source'); })() }); return r.status;",
  ]],
];
export const differences = new Map(rows.flatMap(([reason, cases]) => cases.map((name) => [name, reason])));
