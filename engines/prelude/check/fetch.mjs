// Headers, Request, Response, Blob, File, FormData.
const expressions = String.raw`
[...new Headers({b: '2', A: '1', c: ' x '})]
[...new Headers([['a', '1'], ['A', '2'], ['b', '3']])]
new Headers([['a', '1'], ['a', '2']]).get('A')
new Headers({a: '1'}).get('b')
new Headers({a: '1'}).has('A')
new Headers({'bad name': '1'})
new Headers({'': '1'})
new Headers({a: 'x\ny'})
new Headers({a: 'x\0y'})
new Headers({a: '\n x \t'}).get('a')
new Headers({a: 'é'}).get('a')
new Headers({a: '€'})
new Headers({'é': 'a'})
new Headers([['a']])
new Headers([['a', 'b', 'c']])
new Headers(5)
new Headers(null)
new Headers('x')
new Headers(undefined).get('a')
[...new Headers(new Headers({a: '1'}))]
[...new Headers(new Map([['x', 'y']]))]
(() => { const h = new Headers(); h.append('Set-Cookie', 'a=1'); h.append('set-cookie', 'b=2'); h.append('x', '1'); h.append('x', '2'); return [h.getSetCookie(), [...h], h.get('set-cookie')]; })()
(() => { const h = new Headers({a: '1', b: '2'}); h.set('A', '3'); h.delete('b'); h.append('z', '9'); return [...h.entries()]; })()
(() => { const h = new Headers([['a', '1'], ['b', '2'], ['a', '3']]); h.set('a', 'x'); return [...h]; })()
[[...new Headers({a: '1'}).keys()], [...new Headers({a: '1'}).values()]]
(() => { const o = []; new Headers({b: '1', a: '2'}).forEach((v, k) => o.push(k, v)); return o; })()
new Headers().append('a')
new Headers().get()
Headers()
Object.prototype.toString.call(new Headers().entries())
new Headers({a: 1, b: null, c: undefined}).get('c')
new Response('hi').text()
new Response('{"a":1}').json()
new Response('nope').json()
new Response('é').arrayBuffer().then((b) => b.byteLength)
new Response(new Uint8Array([1, 2, 3])).arrayBuffer().then((b) => [...new Uint8Array(b)])
new Response(new Uint8Array([1, 2, 3, 4]).subarray(1, 3)).arrayBuffer().then((b) => [...new Uint8Array(b)])
new Response(new Uint8Array([104, 105]).buffer).text()
new Response(new URLSearchParams('a=1&b=2')).text()
new Response(new URLSearchParams('a=1')).headers.get('content-type')
new Response(new Blob(['x'], {type: 'a/B'})).headers.get('content-type')
new Response(new Blob(['x'])).headers.get('content-type')
new Response('x').headers.get('content-type')
new Response('x', {headers: {'content-type': 'a/b'}}).headers.get('content-type')
new Response().text()
new Response(null).body
new Response(undefined).body
new Response(5).text()
new Response({a: 1}).text()
new Response('\ufeffx').text()
[new Response('x').status, new Response('x').statusText, new Response('x').ok, new Response('x').type, new Response('x').url, new Response('x').redirected]
[new Response('x', {status: 404, statusText: 'Nope'}).ok, new Response('x', {status: 404}).status]
new Response('x', {status: 199})
new Response('x', {status: 600})
new Response('x', {status: '201'}).status
new Response('x', {status: 204})
new Response(null, {status: 204}).status
new Response(null, {status: 304}).ok
new Response('x', {statusText: 'a\nb'})
new Response('x', {statusText: '€'})
(async () => { const r = new Response('x'); const before = r.bodyUsed; await r.text(); const after = r.bodyUsed; try { await r.text(); } catch (e) { return [before, after, e.name]; } })()
(async () => { const r = new Response('abc'); const c = r.clone(); return [await r.text(), await c.text(), r.status === c.status]; })()
(async () => { const r = new Response('abc'); await r.text(); return r.clone(); })()
(async () => { const r = new Response('abc', {status: 201, headers: {x: 'y'}}).clone(); return [r.status, r.headers.get('x'), await r.text()]; })()
(async () => { const r = new Response('abc'); const out = []; for await (const chunk of r.body) out.push(...chunk); return [out, r.bodyUsed]; })()
(async () => { const r = new Response('abc'); const reader = r.body.getReader(); const a = await reader.read(); const b = await reader.read(); return [[...a.value], a.done, b.done, b.value, r.bodyUsed, r.body.locked]; })()
(async () => { const r = new Response('abc'); r.body.getReader(); return r.text(); })()
(async () => { const b = await new Response('abc', {headers: {'content-type': 'text/x'}}).blob(); return [b.size, b.type, await b.text()]; })()
Response.json({a: 1}).json()
Response.json({a: 1}).headers.get('content-type')
Response.json({a: 1}, {status: 201, headers: {'content-type': 'x/y'}}).headers.get('content-type')
Response.json(undefined)
Response.json(() => {})
[Response.error().type, Response.error().status]
Response.error().headers.append('a', 'b')
[Response.redirect('http://a/b').status, Response.redirect('http://a/b', 301).headers.get('location')]
Response.redirect('nope')
Response.redirect('http://a', 200)
Response()
[new Request('http://a/b#c').url, new Request('http://a').method, new Request('http://a').mode, new Request('http://a').credentials, new Request('http://a').cache, new Request('http://a').redirect]
new Request('/x')
new Request('http://u:p@a/')
new Request()
new Request('http://a', {method: 'post'}).method
new Request('http://a', {method: 'patch'}).method
new Request('http://a', {method: 'Foo'}).method
new Request('http://a', {method: 'a b'})
new Request('http://a', {method: 'CONNECT'})
new Request('http://a', {method: 'trace'})
new Request('http://a', {body: 'x'})
new Request('http://a', {method: 'HEAD', body: 'x'})
new Request('http://a', {method: 'POST', body: 'x'}).text()
new Request('http://a', {method: 'POST', body: 'x'}).headers.get('content-type')
new Request('http://a', {method: 'POST', body: new URLSearchParams('a=b')}).formData().then((f) => [...f])
new Request('http://a', {mode: 'nope'})
new Request('http://a', {mode: 'navigate'})
new Request('http://a', {redirect: 'manual', cache: 'no-store', credentials: 'omit', keepalive: true, integrity: 'i'}).redirect
new Request(new Request('http://a', {method: 'POST', headers: {x: 'y'}, body: 'z'})).text()
(() => { const a = new Request('http://a', {method: 'POST', headers: {x: 'y'}, body: 'z'}); const b = new Request(a, {headers: {q: 'r'}}); return [b.method, b.headers.get('x'), b.headers.get('q'), a.bodyUsed]; })()
(async () => { const a = new Request('http://a', {method: 'POST', body: 'z'}); const b = a.clone(); return [await a.text(), await b.text()]; })()
(() => { const c = new AbortController(); const r = new Request('http://a', {signal: c.signal}); c.abort('q'); return [r.signal.aborted, r.signal.reason, r.signal !== c.signal]; })()
new Request('http://a', {signal: 5})
new Request(new URL('http://a/q')).url
new Request('http://a').body
new Blob(['a', new Uint8Array([98]), new Blob(['c'])]).text()
[new Blob(['é']).size, new Blob([]).size, new Blob().type]
[new Blob([], {type: 'A/B'}).type, new Blob([], {type: 'é'}).type, new Blob([], {type: 5}).type]
new Blob('x')
new Blob(5)
new Blob([1, null, {a: 1}]).text()
new Blob(['abcdef']).slice(1, 3).text()
new Blob(['abcdef']).slice(-2).text()
new Blob(['abcdef']).slice(4, 2).size
new Blob(['abcdef']).slice(0, 2, 'T/X').type
new Blob(['a\r\nb\rc\n'], {endings: 'native'}).text()
new Blob(['a'], {endings: 'x'})
new Blob(['ab']).arrayBuffer().then((b) => [...new Uint8Array(b)])
[new File(['x'], 'n.txt', {type: 't/y', lastModified: 5}).name, new File(['x'], 'n', {lastModified: 5}).lastModified, new File([], 'a').size, new File(['q'], 'w') instanceof Blob]
new File(['x'])
new File()
(() => { const f = new FormData(); f.append('a', '1'); f.append('a', 2); f.append('b', null); f.set('c', 'x'); return [...f]; })()
(() => { const f = new FormData(); f.append('a', '1'); f.append('b', '2'); f.append('a', '3'); f.set('a', 'x'); return [...f]; })()
(() => { const f = new FormData(); f.append('a', '1'); f.append('a', '2'); return [f.get('a'), f.getAll('a'), f.get('z'), f.has('a'), f.has('z'), [...f.keys()], [...f.values()]]; })()
(() => { const f = new FormData(); f.append('a', '1'); f.delete('a'); return [...f]; })()
(() => { const f = new FormData(); f.append('f', new Blob(['x'], {type: 't/p'})); const v = f.get('f'); return [v.name, v.type, v.size, v instanceof File]; })()
(() => { const f = new FormData(); f.append('f', new Blob(['x']), 'n.bin'); return f.get('f').name; })()
(() => { const f = new FormData(); f.append('f', new File(['x'], 'orig'), 'other'); return f.get('f').name; })()
(() => { const f = new FormData(); f.append('f', 'text', 'n'); return 1; })()
new FormData(5)
new FormData().append('a')
(async () => { const f = new FormData(); f.append('a', 'x\ny'); f.append('q"\r\n', 'é'); f.append('file', new File(['data'], 'n"m.txt', {type: 'text/plain'})); const r = new Response(f); const g = await r.formData(); return [[...g].map(([k, v]) => [k, typeof v === 'string' ? v : v.name + v.type + v.size]), r.headers.get('content-type').startsWith('multipart/form-data; boundary=')]; })()
(async () => { const f = new FormData(); f.append('a', '1'); f.append('file', new Blob(['data'])); const t = await new Response(f).text(); return t.replace(/----formdata-[^\r"]*?(?=--\r|\r)/g, 'B'); })()
new Response('a=1&b=x+y%20z', {headers: {'content-type': 'application/x-www-form-urlencoded'}}).formData().then((f) => [...f])
new Response('x').formData()
new Response('--b\r\nContent-Disposition: form-data; name="a"\r\n\r\nv\r\n--b--\r\n', {headers: {'content-type': 'multipart/form-data; boundary=b'}}).formData().then((f) => [...f])
new Response('--b\r\nContent-Disposition: form-data; name="a"; filename="f.txt"\r\nContent-Type: text/plain\r\n\r\nline1\r\nline2\r\n--b--', {headers: {'content-type': 'multipart/form-data; boundary="b"'}}).formData().then(async (f) => [f.get('a').name, f.get('a').type, await f.get('a').text()])
new Response('junk', {headers: {'content-type': 'multipart/form-data; boundary=b'}}).formData()
new Response('x', {headers: {'content-type': 'multipart/form-data'}}).formData()
Object.prototype.toString.call(new Response()) + Object.prototype.toString.call(new Request('http://a')) + Object.prototype.toString.call(new FormData()) + Object.prototype.toString.call(new Blob())
[Response.length, Request.length, Headers.length, Blob.length, File.length, FormData.length]
Object.keys(Headers.prototype).sort().join()
Object.keys(FormData.prototype).sort().join()
`.trim().split('\n');

export default async function check({ same }) {
  await same('fetch', expressions);
}
