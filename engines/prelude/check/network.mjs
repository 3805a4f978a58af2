// fetch: the same programs against a local server, once through the prelude and a stand-in for the host, once through Node's
// own fetch; then what only the host can see of it.
import { createServer } from 'node:http';
import { HostError, HostResponse } from './load.mjs';

function serve() {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, 'http://x');
    if (pathname === '/slow') return; // never answers
    if (pathname === '/drip') {
      response.writeHead(200, { 'content-type': 'text/plain' });
      response.write('first');
      return; // and never ends
    }
    if (pathname === '/hop') return response.writeHead(302, { location: '/json' }).end('moved');
    if (pathname === '/empty') return response.writeHead(204).end();
    if (pathname === '/large') return response.end(Buffer.alloc(300_000, 'x'));
    if (pathname === '/teapot') return response.writeHead(418, 'Short And Stout', { 'set-cookie': ['a=1; Path=/', 'b=2'], 'x-a': '1', 'X-B': 'é' }).end('no');
    if (pathname === '/early') return response.writeHead(413, { connection: 'close' }).end('too much');
    if (pathname === '/json') return response.writeHead(200, { 'content-type': 'application/json' }).end('{"a":[1,"é"]}');
    const chunks = [];
    try {
      for await (const chunk of request) chunks.push(chunk);
    } catch {
      return; // the client gave up
    }
    const { host, connection, 'accept-encoding': _, 'user-agent': __, 'accept-language': ___, accept, 'sec-fetch-mode': ____, ...headers } = request.headers;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ method: request.method, url: request.url, headers: Object.fromEntries(Object.entries(headers).sort()), body: Buffer.concat(chunks).toString() }));
  });
  return new Promise((resolve) => { server.listen(0, '127.0.0.1', () => resolve(server)); });
}

const WHOLE_BYTES_MAX = 16 << 10;

/**
 * A host that performs what the guest asks with Node's fetch. `log` is what it was asked. With `whole`, a small body that ends comes
 * with its response.
 */
function makeHost({ whole = false } = {}) {
  const log = [];
  const requests = new Map();
  const bodies = new Map();
  let lastBody = 0;
  const perform = async (call, bytes) => {
    const open = { controller: new AbortController() };
    requests.set(call.request, open);
    let body;
    if (call.streamed) body = new ReadableStream({ start(upload) { open.upload = upload; } });
    else if (call.body !== null) body = bytes;
    try {
      const { url, method, headers, redirect } = call;
      const response = await fetch(url, { method, headers, redirect, body, duplex: 'half', signal: open.controller.signal });
      const endless = response.url.endsWith('/drip') || Number(response.headers.get('content-length')) > WHOLE_BYTES_MAX || response.url.endsWith('/large');
      let id = null;
      const bytes_ = whole && !endless && response.body !== null ? new Uint8Array(await response.arrayBuffer()) : undefined;
      if (bytes_ === undefined && response.body !== null) bodies.set(id = ++lastBody, response.body.getReader());
      const fields = [];
      for (const [name, value] of response.headers) fields.push([name, value]);
      const head = { url: response.url, status: response.status, statusText: response.statusText, headers: fields, redirected: response.redirected, body: id, length: null };
      return bytes_ === undefined ? head : new HostResponse(head, bytes_);
    } catch (error) {
      throw new HostError('TypeError', error.message, 'egress.failed');
    }
  };
  const ask = async (call, bytes) => {
    const shown = call.kind === 'drop' ? `drop ${call.body === undefined ? 'request' : 'body'}` : call.kind === 'write_body' ? `write ${bytes?.length ?? 0}${call.last ? ' last' : ''}` : call.kind;
    log.push(shown);
    if (call.kind === 'fetch') return perform(call, bytes);
    const open = requests.get(call.request);
    if (call.kind === 'write_body') {
      if (bytes?.length > 0) open.upload.enqueue(bytes);
      if (call.last) open.upload.close();
    } else if (call.body !== undefined) await bodies.get(call.body).cancel();
    else open.controller.abort();
    return undefined;
  };
  const read = async (id) => {
    if (whole) log.push('read');
    const { value, done } = await bodies.get(id).read();
    return done ? new Uint8Array(0) : value;
  };
  return { log, ask, read };
}

const chunks = (...values) => `(async function* () { for (const v of ${JSON.stringify(values)}) yield new TextEncoder().encode(v); })()`;
const programs = (base) => [
  `const r = await fetch('${base}/json'); return [r.status, r.ok, r.url, r.type, r.redirected, r.headers.get('content-type'), r.bodyUsed, await r.json(), r.bodyUsed];`,
  `const r = await fetch(new URL('${base}/echo?a=b#c')); return [r.url, await r.json()];`,
  `const r = await fetch(new Request('${base}/echo', { method: 'PUT', body: 'x', headers: { 'X-Q': '1' } })); return r.json();`,
  `const r = await fetch(new Request('${base}/echo', { method: 'PUT', body: 'x' }), { method: 'POST', body: 'y', headers: { z: '1' } }); return r.json();`,
  `const r = await fetch('${base}/echo', { method: 'post', body: new URLSearchParams({ a: '1 2' }) }); return r.json();`,
  `const r = await fetch('${base}/echo', { method: 'DELETE' }); return r.json();`,
  `const r = await fetch('${base}/echo', { method: 'POST', body: JSON.stringify({ a: 1 }), headers: { 'Content-Type': 'application/json' } }); return r.json();`,
  `const r = await fetch('${base}/echo', { method: 'POST', body: new Blob(['b'], { type: 'x/y' }) }); return r.json();`,
  `const r = await fetch('${base}/echo', { method: 'POST', body: new Uint8Array([104, 105]) }); return r.json();`,
  `const f = new FormData(); f.append('a', 'b'); const r = await fetch('${base}/echo', { method: 'POST', body: f }); const j = await r.json(); return [j.headers['content-type'].split(';')[0], j.body.includes('name="a"')];`,
  `const r = await fetch('${base}/echo', { method: 'POST', duplex: 'half', body: ${chunks('one ', 'two ', 'three')} }); return (await r.json()).body;`,
  `const from = await fetch('${base}/json'); const r = await fetch('${base}/echo', { method: 'POST', duplex: 'half', body: from.body }); return [(await r.json()).body, from.bodyUsed];`,
  `const r = await fetch('${base}/echo', { method: 'POST', duplex: 'half', body: (async function* () { yield new Uint8Array(1); throw new RangeError('source'); })() }); return r.status;`,
  `const r = await fetch('${base}/teapot'); return [r.status, r.statusText, r.ok, r.headers.getSetCookie(), r.headers.get('x-a'), r.headers.get('x-b'), await r.text()];`,
  `const r = await fetch('${base}/teapot'); try { r.headers.set('a', 'b'); } catch (e) { return e.name; }`,
  `const r = (await fetch('${base}/teapot')).clone(); try { r.headers.append('a', 'b'); } catch (e) { return [e.name, r.url, r.type]; }`,
  `const r = await fetch('${base}/hop'); return [r.status, r.redirected, r.url, await r.json()];`,
  `const r = await fetch('${base}/hop', { redirect: 'manual' }); return [r.status, r.headers.get('location'), r.redirected];`,
  `return fetch('${base}/hop', { redirect: 'error' });`,
  `const r = await fetch('${base}/empty'); return [r.status, r.body, await r.text()];`,
  `const r = await fetch('${base}/json', { method: 'HEAD' }); return [r.status, await r.text()];`,
  `const r = await fetch('${base}/large'); let n = 0; for await (const chunk of r.body) n += chunk.length; return [n, r.bodyUsed];`,
  `const r = await fetch('${base}/large'); return (await r.arrayBuffer()).byteLength;`,
  `const r = await fetch('${base}/large'); const c = r.clone(); return [(await r.text()).length, (await c.bytes?.() ?? await c.arrayBuffer()).byteLength];`,
  `const r = await fetch('${base}/json'); await r.text(); return r.text();`,
  `const r = await fetch('${base}/drip'); for await (const chunk of r.body) break; return r.bodyUsed;`,
  `const r = await fetch('${base}/drip'); const reader = r.body.getReader(); const { value } = await reader.read(); await reader.cancel(); return [value.length, (await reader.read()).done];`,
  `const r = await fetch('${base}/drip'); await r.body.cancel(); return r.bodyUsed;`,
  `const c = new AbortController(); c.abort(); return fetch('${base}/json', { signal: c.signal });`,
  `const c = new AbortController(); c.abort('mine'); try { await fetch('${base}/json', { signal: c.signal }); } catch (e) { return e; }`,
  `const c = new AbortController(); const p = fetch('${base}/slow', { signal: c.signal }); c.abort(new RangeError('mine')); return p;`,
  `const c = new AbortController(); const r = await fetch('${base}/drip', { signal: c.signal }); const p = r.text(); c.abort(); return p;`,
  `const c = new AbortController(); const r = await fetch('${base}/drip', { signal: c.signal }); const reader = r.body.getReader(); await reader.read(); c.abort('late'); try { await reader.read(); } catch (e) { return e; }`,
  `const c = new AbortController(); const r = await fetch('${base}/json', { signal: c.signal }); const t = await r.text(); c.abort(); return t;`,
  `const c = new AbortController(); const r = fetch(new Request('${base}/slow', { signal: c.signal })); c.abort(); return r;`,
  `return fetch('/json');`,
  `return fetch('');`,
  `return fetch();`,
  `return fetch('${base}/json', 5);`,
  `return (await fetch('${base}/json', null)).status;`,
  `return fetch('http://u:p@127.0.0.1/');`,
  `return fetch('${base}/json', { method: 'CONNECT' });`,
  `return fetch('${base}/json', { method: 'a b' });`,
  `return fetch('${base}/json', { body: 'x' });`,
  `return fetch('${base}/json', { headers: { a: 'b\\nc' } });`,
  `return fetch('${base}/json', { headers: { 'a b': 'c' } });`,
  `return fetch('${base}/json', { signal: {} });`,
  `return fetch('${base}/json', { redirect: 'nope' });`,
  `return fetch('${base}/json', { duplex: 'full', method: 'POST', body: 'x' });`,
  `return fetch('${base}/json', { window: {} });`,
  `const r = new Request('${base}/echo', { method: 'POST', body: 'x' }); await fetch(r); return [r.bodyUsed, await fetch(r).catch((e) => e.name)];`,
  `const p = fetch('${base}/json'); return [p instanceof Promise, fetch.name, typeof fetch, await p.then((r) => r instanceof Response)];`,
  `return fetch('http://127.0.0.1:1/');`,
];
const wrap = (program) => `(async () => { ${program} })()`;

export default async function check({ fresh, is, compare }) {
  const server = await serve();
  const base = `http://127.0.0.1:${server.address().port}`;
  for (const [program, whole] of programs(base).flatMap((program) => [[program, false], [program, true]])) {
    const host = makeHost({ whole });
    const guest = fresh({ ask: host.ask, bodies: host.read });
    guest.configure(guest.run('({ fetch: true })'));
    await compare('network', program.replaceAll(base, ''), () => guest.run(wrap(program)), () => (0, eval)(wrap(program)));
  }

  /** What the host was asked while a program ran. */
  const asked = async (program, options) => {
    const host = makeHost(options);
    const guest = fresh({ ask: host.ask, bodies: host.read, payloadMax: 2_000 });
    guest.configure(guest.run('({ fetch: true })'));
    let value;
    try {
      value = await guest.run(wrap(program));
    } catch (error) {
      value = error?.name ?? error;
    }
    await new Promise((resolve) => { setTimeout(resolve, 20); });
    return [value, ...host.log];
  };
  is('network', 'an aborted signal asks nothing', await asked(`return fetch('${base}/json', { signal: AbortSignal.abort('early') });`), ['early']);
  is('network', 'what cannot be a request asks nothing', await asked(`return fetch('${base}/json', { headers: { a: 'b\\r\\nHost: evil' } });`), ['TypeError']);
  is('network', 'an abort drops the request', await asked(`const c = new AbortController(); const p = fetch('${base}/slow', { signal: c.signal }); await null; c.abort('late'); return p;`), ['late', 'fetch', 'drop request']);
  is('network', 'an abort after the response drops its body', await asked(`const c = new AbortController(); const r = await fetch('${base}/drip', { signal: c.signal }); c.abort('late'); return r.text();`), ['late', 'fetch', 'drop body']);
  is('network', 'an early break drops the body', await asked(`const r = await fetch('${base}/drip'); for await (const c of r.body) break;`), [undefined, 'fetch', 'drop body']);
  is('network', 'cancel drops the body once', await asked(`const r = await fetch('${base}/drip'); await r.body.cancel(); await r.body.cancel().catch(() => {});`), [undefined, 'fetch', 'drop body']);
  is('network', 'a body read to its end is not dropped', await asked(`const r = await fetch('${base}/json'); for await (const c of r.body); await r.body.cancel().catch(() => {});`), [undefined, 'fetch']);
  is('network', 'a clone keeps the body until neither wants it', await asked(`const r = await fetch('${base}/drip'); const c = r.clone(); await r.body.cancel(); await new Promise((f) => queueMicrotask(f)); await c.body.cancel();`), [undefined, 'fetch', 'drop body']);
  is('network', 'one clone may be let go', await asked(`const r = await fetch('${base}/json'); const c = r.clone(); await r.body.cancel(); return (await c.json()).a[0];`), [1, 'fetch']);
  is('network', 'bytes go beside the call', await asked(`return (await fetch('${base}/echo', { method: 'POST', body: new Blob(['abc']).stream() })).status;`), [200, 'fetch']);
  is('network', 'a stream goes chunk by chunk', await asked(`return (await (await fetch('${base}/echo', { method: 'POST', body: ${chunks('ab', '', 'c')} })).json()).body;`), ['abc', 'fetch', 'write 2', 'write 1', 'write 0 last']);
  is('network', 'text is welcome as a chunk', await asked(`return (await (await fetch('${base}/echo', { method: 'POST', body: (async function* () { yield 'é'; })() })).json()).body;`), ['é', 'fetch', 'write 2', 'write 0 last']);
  is('network', 'a chunk larger than a call is cut', await asked(`return (await (await fetch('${base}/echo', { method: 'POST', body: ${chunks('x'.repeat(4_000))} })).json()).body.length;`), [4_000, 'fetch', 'write 1744', 'write 1744', 'write 512', 'write 0 last']);
  is('network', 'a source that throws drops the request', await asked(`return fetch('${base}/echo', { method: 'POST', body: (async function* () { yield 'a'; throw new RangeError('x'); })() });`), ['RangeError', 'fetch', 'write 1', 'drop request']);
  is('network', 'a body that is not one drops the request', await asked(`return fetch('${base}/echo', { method: 'POST', body: (async function* () { yield 5; })() });`), ['TypeError', 'fetch', 'drop request']);
  is('network', 'an abort ends the upload', await asked(`const c = new AbortController(); let closed = 0; const p = fetch('${base}/slow', { method: 'POST', signal: c.signal, body: (async function* () { try { for (;;) yield 'a'; } finally { closed++; } })() }); await new Promise((f) => queueMicrotask(f)); c.abort(); await p.catch(() => {}); await null; await null; await null; return closed <= 1;`).then((log) => [log[0], log.filter((x) => x === 'drop request').length]), [true, 1]);
  is('network', 'a payload that is too large is a RangeError', await asked(`return fetch('${base}/echo', { method: 'POST', body: new Uint8Array(5000) });`), ['RangeError']);

  const whole = (program) => asked(program, { whole: true });
  is('network', 'a whole body needs no further call', await whole(`return (await (await fetch('${base}/json')).json()).a[1];`), ['é', 'fetch']);
  is('network', 'nor does a stream over it', await whole(`let n = 0; const r = await fetch('${base}/json'); const { body } = r; for await (const c of body) n += c.length; return [n, r.bodyUsed, body === r.body];`), [[14, true, true], 'fetch']);
  is('network', 'it is read once', await whole(`const r = await fetch('${base}/json'); const seen = [r.bodyUsed]; await r.json(); seen.push(r.bodyUsed, r.body.locked, await r.text().catch((e) => e.name), await r.blob().catch((e) => e.name)); try { r.clone(); } catch (e) { seen.push(e.name); } return seen;`), [[false, true, false, 'TypeError', 'TypeError', 'TypeError'], 'fetch']);
  is('network', 'clones of it are its equals', await whole(`const r = await fetch('${base}/json'); const c = r.clone(); const b = await c.bytes(); b.fill(0); return [(await r.json()).a[0], r.status, c.status, c.url === r.url, c.headers.get('content-type')];`), [[1, 200, 200, true, 'application/json'], 'fetch']);
  is('network', 'cancelling it asks nothing', await whole(`const r = await fetch('${base}/json'); await r.body.cancel(); return [r.bodyUsed, await r.text().catch((e) => e.name)];`), [[true, 'TypeError'], 'fetch']);
  is('network', 'an abort after the response takes it away', await whole(`const c = new AbortController(); const r = await fetch('${base}/json', { signal: c.signal }); c.abort('late'); return [await r.text().catch((e) => e), r.status];`), [['late', 200], 'fetch']);
  is('network', 'an abort after it was read does not', await whole(`const c = new AbortController(); const r = await fetch('${base}/json', { signal: c.signal }); const t = await r.text(); c.abort('late'); return t.length;`), [13, 'fetch']);
  is('network', 'an abort while it comes drops the request and nothing else', await whole(`const c = new AbortController(); const p = fetch('${base}/json', { signal: c.signal }); await null; c.abort('late'); return p;`), ['late', 'fetch', 'drop request']);
  is('network', 'its other forms', await whole(`const get = () => fetch('${base}/json'); return [(await (await get()).arrayBuffer()).byteLength, (await (await get()).blob()).type, await (await get()).formData().catch((e) => e.name), (await (await get()).bytes()).length];`), [[14, 'application/json', 'TypeError', 14], 'fetch', 'fetch', 'fetch', 'fetch']);
  is('network', 'its headers cannot be changed, and are the same when looked at again', await whole(`const r = await fetch('${base}/teapot'); let e; try { r.headers.set('a', 'b'); } catch (error) { e = error.name; } return [e, r.headers === r.headers, r.headers.get('x-a'), r.type, r.statusText, r.redirected];`), [['TypeError', true, '1', 'basic', 'Short And Stout', false], 'fetch']);
  const marked = fresh({ ask: async () => new HostResponse({ url: 'http://h/', status: 200, statusText: '', headers: [], redirected: false, body: null, length: 5 }, new TextEncoder().encode('\ufeff[1]')) });
  marked.configure(marked.run('({ fetch: true })'));
  is('network', 'a byte order mark is no part of it', await marked.run(`(async () => [await (await fetch('http://h/')).text(), (await (await fetch('http://h/')).json())[0], (await (await fetch('http://h/')).bytes()).length])()`), ['[1]', 1, 6]);

  // A request with nothing but a URL goes another way than others: the host must not be able to tell.
  const calls = [];
  const seeing = fresh({ ask: async (call) => { calls.push(JSON.stringify(call)); return { url: call.url, status: 200, statusText: '', headers: [], redirected: false, body: null, length: null }; } });
  seeing.configure(seeing.run('({ fetch: true })'));
  const url = 'http://h:8080/a/b?c=d';
  await seeing.run(`(async () => { await fetch('${url}'); await fetch('${url}', {}); await fetch(new URL('${url}')); await fetch(new Request('${url}')); await fetch(' ${url}#e'); await fetch({ toString: () => '${url}' }); })()`);
  is('network', 'however it is written, a request is the same', new Set(calls.map((call) => call.replace(/"request":\d+/, ''))).size, 1);
  is('network', 'each has a number of its own', calls.map((call) => JSON.parse(call).request), [1, 2, 3, 4, 5, 6]);
  is('network', 'what is no URL asks nothing', await seeing.run(`(async () => { const seen = []; for (const bad of ['http://u:p@h/', 'http://u@h/', 'http://h:99999/', 'http:///', 'h/x', 'http://a b/', 'http://h', 'http://[::1/']) seen.push(await fetch(bad).then(() => 'sent', (e) => e.constructor.name + ': ' + e.message.slice(0, 12))); return seen; })()`).then((seen) => [seen.join('|'), calls.length]),
    ['TypeError: Request cann|TypeError: Request cann|TypeError: Failed to pa|TypeError: Failed to pa|TypeError: Failed to pa|TypeError: Failed to pa|sent|TypeError: Failed to pa', 7]);

  const order = fresh({ ask: async () => ({ url: '', status: 200, statusText: '', headers: [], redirected: false, body: null, length: null }) });
  order.configure(order.run('({ fetch: true })'));
  const members = 'body cache credentials duplex headers integrity keepalive method mode priority redirect referrer referrerPolicy signal window';
  is('network', 'each member of init is read once, in the order of WebIDL', await order.run(`(async () => {
    const read = [];
    const given = { method: 'POST', body: 'x', headers: { a: 'b' } };
    await fetch('http://h/', new Proxy({}, { get(_, key) { read.push(key); return given[key]; } }));
    return read.join(' '); })()`), members);
  is('network', 'and of Response', order.run(`(() => { const read = []; new Response('x', new Proxy({}, { get(_, key) { read.push(key); } })); return read.join(' '); })()`), 'headers status statusText');
  is('network', 'headers are read once', await order.run(`(async () => { let n = 0; await fetch('http://h/', { headers: { get a() { n++; return 'b'; } } }); return n; })()`), 1);
  const late = fresh({ ask: async (call) => (call.kind === 'fetch' ? { url: '', status: 200, statusText: '', headers: [], redirected: false, body: 9, length: null } : undefined) });
  late.configure(late.run('({ fetch: true })'));
  is('network', 'the length and name of fetch', late.run('[fetch.name, fetch.length, "prototype" in fetch]'), ['fetch', 1, false]);
  is('network', 'an error of the host comes as it is', await (async () => {
    const guest = fresh({ ask: async () => { throw new HostError('NotGranted', 'no', 'egress.denied'); } });
    guest.configure(guest.run('({ fetch: true })'));
    return guest.run(`fetch('http://h/').catch((e) => [e.name, e.message, e.code])`);
  })(), ['NotGranted', 'no', 'egress.denied']);
  server.closeAllConnections();
  await new Promise((resolve) => { server.close(resolve); });
}
