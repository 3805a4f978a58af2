// TextEncoder, TextDecoder, atob, btoa.
const labels = ['utf-8', 'UTF8', ' utf-8 ', 'utf-16', 'utf-16le', 'utf-16be', 'latin1', 'ascii', 'iso-8859-1', 'windows-1252', 'us-ascii', 'x-nope', ''];
const bytes = [[], [0x61], [0xc3, 0xa9], [0xc3], [0xff], [0xef, 0xbb, 0xbf, 0x61], [0xf0, 0x9f, 0x98, 0x80], [0xf0, 0x9f, 0x98], [0xed, 0xa0, 0x80], [0xc0, 0x80], [0xe2, 0x28, 0xa1],
  [0x80, 0x81, 0x9f, 0xa0], [0xff, 0xfe, 0x61, 0x00], [0x61, 0x00, 0x3d, 0xd8, 0x00, 0xde], [0x3d, 0xd8], [0x61], [0xfe, 0xff, 0x00, 0x61], [0xd8, 0x3d, 0xde, 0x00], [0xf4, 0x90, 0x80, 0x80],
  [0x61, 0xe2, 0x82], [0xe2, 0x82, 0x61]];
const list = (array) => `new Uint8Array([${array}])`;

export default async function check({ same, fresh, is }) {
  // Node 20 reads windows-1252 as Latin-1; the Encoding Standard does not.
  is('encoding', 'windows-1252 has its own characters at 0x80', fresh().run("new TextDecoder('latin1').decode(new Uint8Array([0x80, 0x81, 0x92, 0x9f, 0xa0, 0xff]))"), '\u20ac\u0081\u2019\u0178\u00a0\u00ff');
  await same('encoding', labels.map((label) => `new TextDecoder(${JSON.stringify(label)}).encoding`));
  await same('encoding', bytes.filter((array) => array.every((byte) => byte < 0x80 || byte > 0x9f)).map((array) => `new TextDecoder('latin1').decode(${list(array)})`));
  await same('encoding', ['utf-8', 'utf-16le', 'utf-16be'].flatMap((label) => bytes.flatMap((array) => [
    `new TextDecoder('${label}').decode(${list(array)})`,
    `new TextDecoder('${label}', {fatal: true}).decode(${list(array)})`,
    `new TextDecoder('${label}', {ignoreBOM: true}).decode(${list(array)})`,
  ])));
  // Every way to cut a text into two or three pieces must give the text.
  const whole = [0xef, 0xbb, 0xbf, 0x61, 0xc3, 0xa9, 0xe2, 0x82, 0xac, 0xf0, 0x9f, 0x98, 0x80, 0xff, 0xe2, 0x28, 0xf0, 0x9f, 0x62];
  const streams = [];
  for (let i = 0; i <= whole.length; i++) {
    for (const label of ['utf-8', 'utf-16le']) {
      streams.push(`(() => { const d = new TextDecoder('${label}'); return [d.decode(${list(whole.slice(0, i))}, {stream: true}) + d.decode(${list(whole.slice(i))}, {stream: true}) + d.decode(), d.decode(${list([0x61, 0x62])})]; })()`);
      streams.push(`(() => { const d = new TextDecoder('${label}', {fatal: true}); return d.decode(${list(whole.slice(0, i))}, {stream: true}) + d.decode(${list(whole.slice(i, -6))}); })()`);
    }
  }
  await same('encoding', streams);
  await same('encoding', String.raw`
Array.from(new TextEncoder().encode('aé€😀\ud800'))
Array.from(new TextEncoder().encode())
Array.from(new TextEncoder().encode(undefined))
Array.from(new TextEncoder().encode(12))
(() => { const b = new Uint8Array(5); const r = new TextEncoder().encodeInto('aé€😀', b); return [r, Array.from(b)]; })()
(() => { const b = new Uint8Array(3); const r = new TextEncoder().encodeInto('\ud800x', b); return [r, Array.from(b)]; })()
new TextEncoder().encodeInto('x', 5)
new TextEncoder().encoding
new TextDecoder().decode(new Uint8Array([97, 98]).buffer)
new TextDecoder().decode(new DataView(new Uint8Array([97, 98, 99]).buffer, 1))
new TextDecoder().decode(new Uint16Array([0x6261]))
new TextDecoder().decode()
new TextDecoder().decode(undefined)
new TextDecoder().decode('x')
new TextDecoder().decode(null)
btoa('')
btoa('a')
btoa('ab')
btoa('abc')
btoa('\xff\x00')
btoa('€')
btoa(null)
btoa(12)
atob('')
atob('YQ==')
atob('YQ')
atob('YWI=')
atob(' Y W J j\n')
atob('Y')
atob('YQ=')
atob('YQ===')
atob('Y=Q=')
atob('====')
atob('YWJj====')
atob('a-_b')
atob('€')
atob(null)
atob()
btoa()
(() => { let s = ''; for (let i = 0; i < 256; i++) s += String.fromCharCode(i); return atob(btoa(s)) === s && btoa(s); })()
(() => { try { btoa('€'); } catch (e) { return [e.name, e.code, e instanceof DOMException, e instanceof Error]; } })()
`.trim().split('\n'));
}
