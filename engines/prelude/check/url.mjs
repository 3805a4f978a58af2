// URL and URLSearchParams against Node's.
import { plainUrl } from './load.mjs';

const inputs = String.raw`
http://example.com
https://example.com/
HTTP://EXAMPLE.COM/A%20B
http://user@host/
http://user:pass@host:81/p?q#f
http://:@host/
http://user:@host/
http://@host/
http://a@b@c/
http://a:b:c@d/
http://us er:pa ss@h/
http://host:80/
https://host:443/
https://host:80/
ftp://h:21/
ws://h:80/x
wss://h:443/x
http://host:/
http://host:0/
http://host:00080/
http://host:65535/
http://host:65536/
http://host:99999999999/
http://host:8a/
http://host:-1/
http://
http:///
http:////x
http:/x
http:x
http:\\x\y
http://a\b
http://a/b\c
https:example.org
http:/example.org/a
//x
/x
x
?x
#x
.
..
./a/./b/../c
/a/../../b
/a/%2e/b
/a/%2E%2e/b
/a/.%2e/b
/a/..;/b
http://h/a/./b/../c/.
http://h/a/..
http://h/..
http://h/../../x
http://h/a//b///c
http://h/?
http://h/#
http://h/?#
http://h?q
http://h#f
http://h/?a b"c<d>e'f
http://h/#a b"c<d>e${'`'}f
http://h/a b"c<d>e${'`'}f{g}h|i^j
http://h/é/日本?ü#ñ
http://h/%
http://h/%zz
http://h/%E0%A4
http://h/\ud800
http://h/a?b=%zz
http://exämple.com/
http://EXÄMPLE.com/
http://日本語.jp/
http://xn--exmple-cua.com/
http://xn--/
http://xn--a/
http://xn--zz--zz/
http://faß.de/
http://ＧＯ.com/
http://a。b/
http://a．b｡c/
http://GOO 　goo.com/
http://a\u00adb.com/
http://a\u200bb.com/
http://\u0301a.com/
http://a\u202eb/
http://☃.net/
http://i❤.ws/
http://ΑΒΣ.gr/
http://Σ.gr/
http://ﬁ.com/
http://①.com/
http://℡.com/
http://a%62c/
http://%61%62/
http://%ff/
http://a%00b/
http://a b/
http://a<b/
http://a>b/
http://a^b/
http://a|b/
http://a#b/
http://a%23b/
http://a%2fb/
http://a%40b/
http://a%3ab/
http://a%25b/
http://a_b/
http://a~b/
http://a!b$c&d'e(f)g*h+i,j;k=l/
http://a"b/
http://a{b}/
http://-a-/
http://a..b/
http://.a/
http://a./
http://a../
http://./
http://../
http://1/
http://1.2/
http://1.2.3/
http://1.2.3.4/
http://1.2.3.4./
http://1.2.3.4.5/
http://1.2.3.4../
http://256/
http://255.255.255.255/
http://256.1.1.1/
http://1.256/
http://1.65536/
http://1.16777216/
http://4294967295/
http://4294967296/
http://0x7f000001/
http://0X7F.1/
http://0x/
http://0x.0x/
http://017700000001/
http://0177.0.0.1/
http://08.1/
http://1.2.3.08/
http://1.2.3.0x8/
http://1.2.3.x/
http://1.2.x.4/
http://a.1/
http://a.0x1/
http://foo.123/
http://foo.0x/
http://123.foo/
http://１２７.０.0.1/
http://%31%32%37.0.0.1/
http://1.2.3.4:80/
http://127.0.0.1:8080@evil.com/
http://[::1]/
http://[::]/
http://[1:2:3:4:5:6:7:8]/
http://[1:2:3:4:5:6:7:8:9]/
http://[1::2]/
http://[1::2::3]/
http://[1:2:3:4:5:6:7::]/
http://[::2:3:4:5:6:7:8]/
http://[0:0:0:0:0:0:0:1]/
http://[1:0:0:2:0:0:0:3]/
http://[0:0:1:0:0:1:0:0]/
http://[::ffff:1.2.3.4]/
http://[::1.2.3.4]/
http://[1:2:3:4:5:6:1.2.3.4]/
http://[1:2:3:4:5:6:7:1.2.3.4]/
http://[::1.2.3]/
http://[::1.2.3.256]/
http://[::01.2.3.4]/
http://[::1.2.3.4.5]/
http://[::1.2.3.4:5]/
http://[::12345]/
http://[::G]/
http://[ABCD::EF]/
http://[:1]/
http://[1:]/
http://[1]/
http://[]/
http://[/
http://[::1/
http://::1]/
http://[::1]:80/
http://[::1]:81/
http://[::1]x/
http://[::1%25eth0]/
http://[::1]@h/
http://[v1.x]/
file:///a/b
file:///C:/a
file:///C|/a
file:///c:/../..
file://host/a
file://localhost/a
file://LOCALHOST/
file:/a
file:a
file:
file://
file:///
file:////a
file:\\c:\a
file:C|/x
file:///C|
file://C:/x
file://C|/x
file:///./C:/x
file://1.2.3.4/x
file://a%20b/
file:?q
file:#f
file://u:p@h/
file://h:80/
mailto:a@b.c
mailto:a b?c d#e f
javascript:alert(1)
data:text/plain,hello world
data:x  
data:x  ?q
data:x  #f
data:,a\tb
blob:https://a.com/uuid
blob:x
blob:ftp://a/
about:blank
urn:a:b
tel:+1
foo:
foo:/
foo://
foo:///
foo:////x
foo:/a/../b
foo:/..//x
foo:.//p
foo:/.//p
foo:a/../b
foo://host/a/../b
foo://HOST/
foo://h o/
foo://h%20o/
foo://h^o/
foo://é/
foo://h:80/
foo://h:99999/
foo://u:p@h/
foo://@/
foo://:80/
foo://[::1]/
foo://[x]/
foo://1.2/
foo://h?q
foo://h#f
foo://h\x
foo:\x
foo:#f
foo:?q'
foo:x?q'
http://h/?q'
f+o-o.1://h/
1foo://h/
-foo:x
:x
://h
ht tp://h/
ht\ttp://h/\n/a\rb
  http://h/  
\u0000http://h/\u0001
http://h/\u0000
http://h/a\u0000b?c\u0000#d\u0000
http://h/\u007f
http://h/\u0080
http://h/\uffff
http://h/😀
http://h:8\t0/
http://h\u00a0/
http://\u00a0h/
http://a\ufeffb/
http://ab\ufffd/
http://\ud800/
https://a.b/c?d=e&f=%20+%2B#g
http://example.com:8080/path;params?query=1;2#frag?x
non-special:opaque path
https://ab%63.com/
https://example.com%80/
https://example.com%A0/
https://x%c3%a9.com/
http://a.b.c.d.e.f.g/
http://h/a%2fb
http://h/a%5cb
http://h/;a=b/@c:d
http://foo.com/\\@
http:\/\/a
http:/\\b
`.trim().split('\n').map((line) => line.replace(/\\u([0-9a-f]{4})/g, (_, hex) => String.fromCharCode(parseInt(hex, 16)))
  .replace(/\\t/g, '\t').replace(/\\n/g, '\n').replace(/\\r/g, '\r'));

const bases = ['', 'http://base.com/x/y?z#w', 'file:///C:/a/b', 'foo:/p/q', 'mailto:x'];
const relatives = ['', '.', '..', '/', '/a', '//h', '///h', 'a', 'a/b', '../../..', '?q', '#f', '\\a', '\\\\h', 'C|/x', '/C:/x', 'http:a', 'http:/a', 'http://q', 'file:a', 'file:/a', 'file:?q',
  'foo:a', 'a:b', './/x', '/..//x', '..//x', 'a?b#c', '?', '#', 'x:', ' a ', '%2e%2e/z', 'D:', 'D|', '/D|/../e'];

const setters = [
  ['http://a/', 'protocol', ['https', 'https:', 'ftp:x', 'foo', 'file', '1x', '', 'HTTPS', 'h\tttps', 'ws://x', 'htt ps']],
  ['http://u@a:81/', 'protocol', ['file', 'https']],
  ['https://a:80/', 'protocol', ['http']],
  ['file:///x', 'protocol', ['http', 'foo']],
  ['file://h/x', 'protocol', ['http']],
  ['foo://a/', 'protocol', ['http', 'bar']],
  ['mailto:x', 'protocol', ['foo', 'http']],
  ['http://a:81/p', 'host', ['b', 'b:82', 'b:', ':82', '', 'b:80', 'b:x', 'b:82x', 'b/c', 'b?c', 'b#c', 'b\\c', 'b@c', '[::1]:9', '[::1', '1.2', 'é', 'a b', 'b:65536', 'x:123456', '\tb\n']],
  ['http://u@a:81/p', 'host', ['', 'b']],
  ['foo://a:81/p', 'host', ['', 'b', 'b:9', 'b\\c', 'é', ':9']],
  ['foo://u@a/p', 'host', ['']],
  ['foo:/p', 'host', ['h', '']],
  ['file:///x', 'host', ['h', 'h:1', 'localhost', '']],
  ['mailto:x', 'host', ['h']],
  ['http://a:81/p', 'hostname', ['b', 'b:82', '', 'b/c', '[::1]', '0x7f.1', ':', 'b?x']],
  ['foo://a/p', 'hostname', ['', 'b', 'b:9']],
  ['file://h/x', 'hostname', ['', 'localhost', 'C|']],
  ['http://a/', 'port', ['81', '80', '', '65536', 'x', '81x', ' 81', '8\t1', '-1', '0', '00081', '1e2', '82/']],
  ['http://a:81/', 'port', ['', '65536', 'x']],
  ['file:///x', 'port', ['1']],
  ['foo:x', 'port', ['1']],
  ['http://a/', 'username', ['u', 'u:@/é', '', '%']],
  ['http://u:p@a/', 'username', ['']],
  ['http://u:p@a/', 'password', ['', 'q:@/']],
  ['file:///x', 'username', ['u']],
  ['foo:x', 'password', ['u']],
  ['http://a/b?c#d', 'pathname', ['x', '/x', '', '?', '#', 'a b', '../y', '\\z', '/..', 'é', '//x', '\tq']],
  ['foo://a/b', 'pathname', ['x', '', '?', '\\z', '/..']],
  ['foo:/b', 'pathname', ['', '//x', 'x']],
  ['file:///C:/a', 'pathname', ['D|/x', '/D|/x', '..']],
  ['mailto:x', 'pathname', ['y']],
  ['http://a/?b#c', 'search', ['', '?', 'x', '?x', 'a b\'"', '#', 'é', '??x']],
  ['foo:x  ?b#c', 'search', ['', 'x\'']],
  ['http://a/?b#c', 'hash', ['', '#', 'x', '#x', 'a b`"', '##', 'é']],
  ['data:x  #c', 'hash', ['']],
  ['http://a/', 'href', ['http://b', 'x', '']],
];

const params = String.raw`
new URLSearchParams('a=1&b=2&a=3').getAll('a')
new URLSearchParams('?a=1').get('a')
new URLSearchParams('??a=1').toString()
new URLSearchParams('a+b=c%20d&e=%zz&f&=g&&').toString()
new URLSearchParams({a: 1, b: 'x y'}).toString()
new URLSearchParams([['a', 'b'], ['c', 'd']]).toString()
new URLSearchParams([['a']]).toString()
new URLSearchParams([['a', 'b', 'c']]).toString()
new URLSearchParams([1]).toString()
new URLSearchParams(new Map([['a', 'b']])).toString()
new URLSearchParams(new URLSearchParams('a=b')).toString()
new URLSearchParams(null).toString()
new URLSearchParams(undefined).toString()
new URLSearchParams(5).toString()
new URLSearchParams({[Symbol('x')]: 1}).toString()
new URLSearchParams('a=é&b=日本&c=😀').toString()
new URLSearchParams("a=!'()~*-._").toString()
new URLSearchParams({a: '\ud800'}).toString()
new URLSearchParams('a=%F0%9F%98%80').get('a')
new URLSearchParams('a=%EF%BB%BFx').get('a').length
(() => { const p = new URLSearchParams('a=1&b=2&a=3'); p.set('a', 'x'); return p.toString(); })()
(() => { const p = new URLSearchParams('a=1'); p.set('b', 'x'); p.append('a', '2'); return p.toString(); })()
(() => { const p = new URLSearchParams('a=1&b=2&a=3'); p.delete('a'); return p.toString(); })()
(() => { const p = new URLSearchParams('a=1&b=2&a=3'); p.delete('a', '3'); return p.toString(); })()
(() => { const p = new URLSearchParams('c=1&a=2&b=3&a=1'); p.sort(); return p.toString(); })()
(() => { const p = new URLSearchParams('ﬃ=1&🌈=2&a=3'); p.sort(); return p.toString(); })()
[new URLSearchParams('a=1').has('a'), new URLSearchParams('a=1').has('b'), new URLSearchParams('a=1').has('a', '2'), new URLSearchParams('a=1').has('a', '1')]
new URLSearchParams('a=1').get('b')
[...new URLSearchParams('a=1&b=2')]
[...new URLSearchParams('a=1&b=2').keys()]
[...new URLSearchParams('a=1&b=2').values()]
(() => { const out = []; new URLSearchParams('a=1&b=2').forEach((v, k) => out.push(k + v)); return out; })()
new URLSearchParams('a=1&b=2').size
Object.prototype.toString.call(new URLSearchParams('a').entries())
new URLSearchParams().append('a')
new URLSearchParams().get()
URLSearchParams()
(() => { const u = new URL('http://a/?x=1'); u.searchParams.append('y', 'a b'); return [u.href, u.search]; })()
(() => { const u = new URL('http://a/?x=1'); const p = u.searchParams; u.search = '?z=3'; return [p.get('z'), p === u.searchParams]; })()
(() => { const u = new URL('http://a/?x=1'); u.searchParams.delete('x'); return u.href; })()
(() => { const u = new URL('http://a/?x=1'); const p = u.searchParams; u.href = 'http://b/?q=2'; return p.toString(); })()
(() => { const u = new URL("http://a/?x='1"); u.searchParams.append('y', "'"); return u.href; })()
(() => { const p = new URLSearchParams('a=1&b=2&c=3'); const seen = []; for (const [k] of p) { seen.push(k); p.delete('a'); } return seen; })()
JSON.stringify({u: new URL('http://a/?b')})
new URL('http://a/').toString()
String(new URL('http://a/'))
URL.canParse('http://a'), URL.canParse('x')
URL.canParse('x', 'http://a')
URL('http://a')
new URL()
new URL('x')
new URL('x', 'y')
new URL(new URL('http://a/b'), 'http://c/').href
new URL('c', new URL('http://a/b')).href
Object.keys(URL.prototype).sort().join()
Object.prototype.toString.call(new URL('http://a'))
(() => { try { new URL('nope'); } catch (e) { return [e.name, e.code, e.input, e.message]; } })()
`.trim().split('\n');

const FIELDS = 'href origin protocol username password host hostname port pathname search hash'.split(' ');
const show = `((input, base) => { try { const u = base === '' ? new URL(input) : new URL(input, base); return [${FIELDS.map((f) => `u.${f}`).join(', ')}]; } catch (e) { return e.name; } })`;

const parse = (pair) => `${show}(...${pair})`;

export default async function check({ same, is }) {
  await same('url', inputs.map((input) => JSON.stringify([input, ''])), parse);
  await same('url', bases.slice(1).flatMap((base) => relatives.map((input) => JSON.stringify([input, base]))), parse);
  await same('url', inputs.filter((_, i) => i % 3 === 0).map((input) => JSON.stringify([input, bases[1]])), parse);
  await same('url', setters.flatMap(([start, name, values]) => values.map((value) => JSON.stringify([start, name, value]))),
    (triple) => `(([start, name, value]) => { const u = new URL(start); u[name] = value; return [u.href, u[name]]; })(${triple})`);
  await same('url', params);

  // What is recognised as plain is what parsing changes nothing in.
  const parts = { scheme: ['http://', 'https://', 'HTTP://', 'http:/', 'ftp://', 'https://u@'], host: ['h', 'a.b', 'a-b.c', 'A.b', '1.2.3.4', '1.2.3', '01.2.3.4', '256.1.1.1', 'a.1', 'a.0x1', '1.a', 'a.', '.a', 'xn--bcher-kva.x', 'a.xn--x', 'é', 'a_b', '[::1]', '', '0.0.0.0', 'a..b', '1.2.3.4.5', 'h%41'],
    port: ['', ':', ':80', ':443', ':8080', ':0', ':08', ':65535', ':65536', ':1x'], path: ['', '/', '/a', '/a/b/', '//', '/.', '/..', '/a/../b', '/a.b', '/.a', '/%2e', '/%2E%2e/x', '/%20', '/%', '/a b', '/a\\b', "/'", '/{', '/^', '/`', '/|', '/é', '/a;b=c,d', '/~!$&()*+:@[]', '/x\t'],
    query: ['', '?', '?a=b&c', "?'", '?a b', '?<', '?{}|^`', '?é', '?%zz', '?a?b/..', '#x', '?q#x'] };
  const random = (seed) => () => (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648;
  const next = random(7);
  const pick = (list) => list[Math.floor(next() * list.length)];
  const made = Array.from({ length: 6_000 }, () => pick(parts.scheme.slice(0, next() < 0.8 ? 2 : 6)) + pick(parts.host) + pick(parts.port) + pick(parts.path) + pick(parts.query));
  let plain = 0;
  const wrong = made.filter((text) => {
    const at = plainUrl(text);
    if (at === 0) return false;
    plain += 1;
    const url = new URL(text);
    return url.href !== text || url.username !== '' || url.password !== '' || url.hash !== '' || text.slice(at) !== url.pathname + (text.includes('?') ? '?' + text.split('?').slice(1).join('?') : '');
  });
  is('url', 'plain URLs are written as a parser would', [wrong, plain > 100], [[], true]);
  await same('url', made.filter((text) => plainUrl(text) !== 0).slice(0, 300).map((input) => JSON.stringify([input, ''])), parse);
}
