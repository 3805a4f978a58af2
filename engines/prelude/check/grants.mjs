// kv, files, invoke and secrets over a stand-in for the host: what the guest sees, and what the host is asked.
import { HostBody, HostError } from './load.mjs';

const wrap = (program) => `(async () => { ${program} })()`;
const BINDINGS = ['fetch', 'kv', 'files', 'invoke', 'secrets'];

export default async function check({ fresh, is }) {
  /** A guest with these bindings, and what it asked. `answers` are given in turn; a function is asked each time. */
  const given = (config, answers = [], options = {}) => {
    const asked = [];
    const ask = async (call, bytes) => {
      asked.push(bytes === undefined ? call : { ...call, bytes: Buffer.from(bytes).toString() });
      const answer = typeof answers === 'function' ? answers(call, bytes) : answers.shift();
      if (answer instanceof Error) throw answer;
      return answer;
    };
    const guest = fresh({ ask, ...options });
    guest.configure(guest.run(`(${JSON.stringify(config)})`));
    const names = (program) => guest.run(wrap(program));
    return { guest, asked, run: names, last: () => asked[asked.length - 1] };
  };
  const after = async (config, answers, program, options) => {
    const it = given(config, answers, options);
    let value;
    try {
      value = await it.run(program);
    } catch (error) {
      value = error.name;
    }
    return [value, ...it.asked];
  };

  const nothing = fresh();
  is('grants', 'nothing exists without a grant', nothing.run(`${JSON.stringify(BINDINGS)}.map((name) => name in globalThis)`), BINDINGS.map(() => false));
  const config = { fetch: { fetch: true }, kv: { kv: ['a'] }, files: { files: true }, invoke: { invoke: true }, secrets: { secrets: true } };
  for (const name of BINDINGS) {
    const { guest } = given(config[name]);
    is('grants', `${name} alone`, guest.run(`${JSON.stringify(BINDINGS)}.filter((name) => name in globalThis)`), [name]);
    is('grants', `${name} is not enumerable`, guest.run(`Object.keys(globalThis).includes('${name}')`), false);
  }

  // kv
  const shape = (names) => given({ kv: names }).guest.run('[Object.isFrozen(kv), Object.getPrototypeOf(Object.getPrototypeOf(kv)), Object.keys(kv).join(), Object.keys(Object.getPrototypeOf(kv)).sort().join()]');
  const methods = 'compareAndSet,delete,get,getMany,getWithMetadata,keys,list,put';
  is('grants', 'kv with one space is that space', shape(['cache']), [true, null, 'cache', methods + ',space']);
  is('grants', 'kv with two is not', shape(['cache', 'users']), [true, null, 'cache,users', 'space']);
  is('grants', 'a method keeps its name', given({ kv: ['get'] }).guest.run('[typeof kv.get, typeof kv.space("get").get, typeof kv.constructor, typeof kv.toString]'), ['function', 'function', 'undefined', 'undefined']);
  is('grants', 'a space of any name is found', given({ kv: ['constructor', 'space'] }).guest.run('[typeof kv.constructor.get, typeof kv.space, typeof kv.space("space").get, Object.isFrozen(kv.constructor)]'), ['function', 'function', 'function', true]);
  is('grants', 'a space that is not granted is a TypeError', given({ kv: ['a'] }).guest.run(`['b', 'toString', 5, undefined].map((n) => { try { return kv.space(n); } catch (e) { return e.name; } })`), Array(4).fill('TypeError'));
  is('grants', 'names and lengths', given({ kv: ['a'] }).guest.run('[kv.get.name, kv.put.length, kv.compareAndSet.length, kv.delete.name, kv.list.length, kv.keys.length]'), ['get', 2, 3, 'delete', 0, 0]);

  const entry = { value: { v: 1 }, metadata: { m: 2 }, version: 3, expires: 1_700_000_000_000 };
  is('grants', 'get', await after({ kv: ['a'] }, [[entry]], `return kv.get('k');`), [{ v: 1 }, { op: 'get', keys: ['k'], kind: 'kv', space: 'a' }]);
  is('grants', 'get of what is not there', (await after({ kv: ['a'] }, [[null]], `return kv.a.get('k');`))[0], null);
  is('grants', 'getMany keeps the order', await after({ kv: ['a'] }, [[entry, null]], `return kv.getMany(new Set(['x', 'y']));`), [[{ v: 1 }, null], { op: 'get', keys: ['x', 'y'], kind: 'kv', space: 'a' }]);
  is('grants', 'getMany of nothing asks nothing', await after({ kv: ['a'] }, [], `return kv.getMany([]);`), [[]]);
  is('grants', 'getWithMetadata', (await after({ kv: ['a'] }, [[entry]], `const e = await kv.getWithMetadata('k'); return [e, e.expires instanceof Date];`))[0], [{ ...entry, expires: '2023-11-14T22:13:20.000Z' }, true]);
  is('grants', 'without an expiry', (await after({ kv: ['a'] }, [[{ value: 0, version: 1, metadata: null, expires: null }]], `return kv.getWithMetadata('k');`))[0], { value: 0, metadata: null, version: 1, expires: null });
  is('grants', 'put', await after({ kv: ['a'] }, [7], `return kv.put('k', [1], { ttl: 1.0001, metadata: { a: 1 } });`), [7, { op: 'put', key: 'k', value: [1], metadata: { a: 1 }, ttl_ms: 1001, kind: 'kv', space: 'a' }]);
  is('grants', 'put of null', await after({ kv: ['a'] }, [7], `return kv.put('k', null);`), [7, { op: 'put', key: 'k', value: null, kind: 'kv', space: 'a' }]);
  is('grants', 'compareAndSet', await after({ kv: ['a'] }, [null], `return kv.compareAndSet('k', 4, 1);`), [null, { op: 'put', key: 'k', value: 1, expect: 4, kind: 'kv', space: 'a' }]);
  is('grants', 'compareAndSet of what must not be there', (await after({ kv: ['a'] }, [1], `return kv.compareAndSet('k', null, 1);`))[1].expect, 0);
  is('grants', 'delete', await after({ kv: ['a'] }, [true], `return kv.delete('k');`), [true, { op: 'delete', key: 'k', kind: 'kv', space: 'a' }]);
  is('grants', 'list', await after({ kv: ['a'] }, [{ keys: [{ key: 'x', metadata: null, version: 1, expires: 0 }], cursor: 'c' }], `return kv.list({ prefix: 'x', cursor: 'b', limit: 5 });`),
    [{ keys: [{ key: 'x', metadata: null, version: 1, expires: '1970-01-01T00:00:00.000Z' }], cursor: 'c' }, { op: 'list', prefix: 'x', cursor: 'b', limit: 5, kind: 'kv', space: 'a' }]);
  is('grants', 'list without options', (await after({ kv: ['a'] }, [{ keys: [], cursor: null }], `return kv.list();`))[1], { op: 'list', prefix: '', kind: 'kv', space: 'a' });
  const pages = [{ keys: [{ key: '1' }, { key: '2' }], cursor: 'p' }, { keys: [], cursor: 'q' }, { keys: [{ key: '3' }], cursor: null }];
  is('grants', 'keys goes through all pages', await after({ kv: ['a'] }, [...pages], `const all = []; for await (const key of kv.keys('n')) all.push(key); return all;`),
    [['1', '2', '3'], ...[undefined, 'p', 'q'].map((cursor) => ({ op: 'list', prefix: 'n', ...(cursor && { cursor }), kind: 'kv', space: 'a' }))]);
  is('grants', 'keys stops where it is left', (await after({ kv: ['a'] }, [...pages], `for await (const key of kv.keys()) break;`)).length, 2);
  const bad = [`kv.get()`, `kv.get(5)`, `kv.get('')`, `kv.get('x'.repeat(513))`, `kv.get('é'.repeat(257))`, `kv.getMany('ab' + 5 ? [1] : 0)`, `kv.getMany(5)`, `kv.put('k')`, `kv.put('k', () => 1)`, `kv.put('k', Symbol())`, `kv.put('k', 10n)`, `kv.put('k', 1, 5)`,
    `kv.put('k', 1, { ttl: 0 })`, `kv.put('k', 1, { ttl: '5' })`, `kv.put('k', 1, { ttl: NaN })`, `kv.compareAndSet('k', -1, 1)`, `kv.compareAndSet('k', 1.5, 1)`, `kv.compareAndSet('k', '1', 1)`, `kv.compareAndSet('k', undefined, 1)`, `kv.list({ limit: -1 })`, `kv.list({ prefix: 5 })`,
    `kv.delete(null)`, `kv.get.call({}, 'k')`, `(0, kv.get)('k')`, `kv.get.call(null, 'k')`];
  for (const call of bad) is('grants', `${call} is a rejection and asks nothing`, await after({ kv: ['a'] }, [], `let p; try { p = ${call}; } catch (e) { return 'thrown'; } return p;`), ['TypeError']);
  is('grants', 'a key of 512 bytes is one', (await after({ kv: ['a'] }, [[null]], `return kv.get('é'.repeat(256));`))[0], null);
  is('grants', 'options are read once, in order', await given({ kv: ['a'] }, [1]).run(`const read = []; await kv.put('k', 1, new Proxy({}, { get(_, key) { read.push(key); } })); return read;`), ['metadata', 'ttl']);
  is('grants', 'an error of the host comes as it is', await given({ kv: ['a'] }, [new HostError('QuotaExceeded', 'full', 'kv.quota')]).run(`return kv.put('k', 1).catch((e) => [e.name, e.message, e.code]);`), ['QuotaExceeded', 'full', 'kv.quota']);

  // files
  is('grants', 'files is frozen and has no prototype', given({ files: true }).guest.run('[Object.isFrozen(files), Object.getPrototypeOf(files), Object.keys(files).join()]'),
    [true, null, 'read,readText,readJson,stream,write,append,writeJson,list,stat,exists,remove,makeFolder,rename,readLines,edit,copy,link,glob,grep,find,tree,diff,history,undo']);
  is('grants', 'files needs no this', (await after({ files: true }, [new Uint8Array([104])], `const { readText } = files; return readText('f');`))[0], 'h');
  const text = new TextEncoder().encode('{"a":"é"}');
  const file = { bodies: new Map([[1, text], [2, new Uint8Array(150_000)], [3, text]]) };
  is('grants', 'read', await after({ files: true }, [new Uint8Array([1, 2])], `const b = await files.read('f', { offset: 3, length: 9 }); return [b instanceof Uint8Array, b.length];`), [[true, 2], { op: 'read', path: 'f', offset: 3, length: 9, kind: 'files' }]);
  is('grants', 'read of a body', (await after({ files: true }, [new HostBody(2, 150_000)], `return (await files.read('f')).length;`, file))[0], 150_000);
  is('grants', 'readText of either', (await after({ files: true }, [text, new HostBody(1)], `return [await files.readText('f'), await files.readText('f')];`, file))[0], ['{"a":"é"}', '{"a":"é"}']);
  is('grants', 'readJson', (await after({ files: true }, [new HostBody(3), new Uint8Array([123])], `return [await files.readJson('f'), await files.readJson('f').catch((e) => e.name)];`, file))[0], [{ a: 'é' }, 'SyntaxError']);
  is('grants', 'stream opens when it is read', await after({ files: true }, [text], `const s = files.stream('f'); const t = await new Response(s).text(); return [t, Object.prototype.toString.call(s)];`), [['{"a":"é"}', '[object ReadableStream]'], { op: 'read', path: 'f', offset: 0, kind: 'files' }]);
  is('grants', 'a stream that is not read asks nothing', await after({ files: true }, [], `await files.stream('f').cancel();`), [undefined]);
  is('grants', 'a stream left early lets the file go', (await after({ files: true }, [new HostBody(4), undefined], `for await (const c of files.stream('f')) break;`, { bodies: new Map([[4, new Uint8Array(200_000)]]) })).slice(1), [{ op: 'read', path: 'f', offset: 0, kind: 'files' }, { kind: 'drop', body: 4 }]);
  is('grants', 'write of text', await after({ files: true }, [5], `return files.write('f', 'hé');`), [5, { op: 'write', path: 'f', append: false, kind: 'files', bytes: 'hé' }]);
  is('grants', 'append of bytes', await after({ files: true }, [5], `return files.append('f', new Uint8Array([120, 121]).subarray(1));`), [5, { op: 'write', path: 'f', append: true, kind: 'files', bytes: 'y' }]);
  is('grants', 'write of a blob, a buffer and a stream', (await after({ files: true }, [1, 2, 3, 4, 5], `await files.write('f', new Blob(['b'])); await files.write('f', new Uint8Array([99]).buffer); await files.write('f', (async function* () { yield 'd'; yield 'e'; })()); await files.write('f', new Response('r').body);`)).slice(1).map((call) => [call.bytes, call.append]), [['b', false], ['c', false], ['d', false], ['e', true], ['r', false]]);
  is('grants', 'write of nothing', (await after({ files: true }, [0, 0], `await files.write('f', ''); await files.write('f', (async function* () {})());`)).slice(1).map((call) => [call.bytes, call.append]), [['', false], ['', false]]);
  is('grants', 'what is written is what was there when it was called', (await after({ files: true }, () => 1, `const b = new Uint8Array(5000).fill(97); const p = files.write('f', b); b.fill(98); await p;`, { payloadMax: 3_000 })).slice(1).every((call) => /^a+$/.test(call.bytes)), true);
  const cut = await after({ files: true }, (call, bytes) => bytes.length, `return files.write('f', 'x'.repeat(5000));`, { payloadMax: 3_000 });
  is('grants', 'a large write is cut', cut.slice(1).map((call) => [call.bytes.length, call.append]), [[2738, false], [2262, true]]);
  is('grants', 'a failure in between ends it', (await after({ files: true }, [1, new HostError('Error', 'full', 'files.quota')], `return files.write('f', 'x'.repeat(9000));`, { payloadMax: 3_000 })).length, 3);
  is('grants', 'writeJson', (await after({ files: true }, [5], `return files.writeJson('f', { a: 1 });`))[1].bytes, '{"a":1}');
  is('grants', 'list goes through all pages', await after({ files: true }, [{ entries: [{ name: 'a', kind: 'file', size: 1 }], cursor: 'c' }, { entries: [{ name: 'b', kind: 'folder', size: 0 }], cursor: null }], `return files.list();`),
    [[{ name: 'a', kind: 'file', size: 1 }, { name: 'b', kind: 'folder', size: 0 }], { op: 'list', path: '.', kind: 'files' }, { op: 'list', path: '.', cursor: 'c', kind: 'files' }]);
  is('grants', 'stat and exists', (await after({ files: true }, [{ kind: 'file', size: 3, modified: 0 }, null, null, { kind: 'file' }], `const s = await files.stat('f'); return [s, s.modified instanceof Date, await files.stat('g'), await files.exists('f'), await files.exists('f')];`))[0],
    [{ kind: 'file', size: 3, modified: '1970-01-01T00:00:00.000Z' }, true, null, false, true]);
  is('grants', 'remove', await after({ files: true }, [true, false], `return [await files.remove('a'), await files.remove('b', { recursive: true })];`), [[true, false], { op: 'remove', path: 'a', recursive: false, kind: 'files' }, { op: 'remove', path: 'b', recursive: true, kind: 'files' }]);
  is('grants', 'makeFolder and rename', await after({ files: true }, [], `return [await files.makeFolder('a/b'), await files.rename('a', 'b')];`), [[null, null], { op: 'make_folder', path: 'a/b', kind: 'files' }, { op: 'rename', path: 'a', to: 'b', kind: 'files' }]);
  is('grants', 'read of a version', (await after({ files: true }, [new Uint8Array(1)], `await files.read('f', { version: 3 });`))[1], { op: 'read', path: 'f', offset: 0, version: 3, kind: 'files' });
  is('grants', 'stat tells a mode and a target where there are any', (await after({ files: true }, [{ kind: 'link', size: 0, modified: 0, mode: 511, target: 'a' }], `return files.stat('l');`))[0], { kind: 'link', size: 0, modified: new Date(0), mode: 511, target: 'a' });
  is('grants', 'readLines', await after({ files: true }, [{ text: 'a\n', from: 2, lines: 1, total: 9 }], `return files.readLines('f', { from: 2, lines: 1 });`), [{ text: 'a\n', from: 2, lines: 1, total: 9 }, { op: 'read_lines', path: 'f', from: 2, lines: 1, kind: 'files' }]);
  is('grants', 'edit', (await after({ files: true }, () => ({ size: 1, replaced: 1 }), `await files.edit('f', 'a', 'b'); await files.edit('f', 'a', '', { all: true }); return files.edit('f', [{ old: 'a', new: 'b' }, { old: 'c', new: 'd', replace_all: true }]);`)),
    [{ size: 1, replaced: 1 }, { op: 'edit', path: 'f', edits: [{ old: 'a', new: 'b', replace_all: false }], kind: 'files' }, { op: 'edit', path: 'f', edits: [{ old: 'a', new: '', replace_all: true }], kind: 'files' }, { op: 'edit', path: 'f', edits: [{ old: 'a', new: 'b', replace_all: false }, { old: 'c', new: 'd', replace_all: true }], kind: 'files' }]);
  is('grants', 'copy and link', await after({ files: true }, [], `return [await files.copy('a', 'b'), await files.link('l', 'a')];`), [[null, null], { op: 'copy', path: 'a', to: 'b', kind: 'files' }, { op: 'link', path: 'l', target: 'a', kind: 'files' }]);
  is('grants', 'glob gives paths', await after({ files: true }, [{ paths: ['a.rs'], more: false }], `return files.glob('*.rs', { path: 'src', ignore: true, limit: 5 });`), [['a.rs'], { op: 'glob', path: 'src', pattern: '*.rs', ignore: true, limit: 5, kind: 'files' }]);
  const grepped = { matches: [{ path: 'a', line: 1, text: 'x', before: [], after: [] }], more: false, skipped: [] };
  is('grants', 'grep', await after({ files: true }, [grepped, grepped], `await files.grep('x'); return files.grep('x', { path: 'd', literal: true, ignoreCase: true, include: '*.js', ignore: true, context: 2, limit: 9 });`),
    [grepped, { op: 'grep', path: '.', pattern: 'x', literal: false, ignore_case: false, ignore: false, kind: 'files' }, { op: 'grep', path: 'd', pattern: 'x', literal: true, ignore_case: true, include: ['*.js'], ignore: true, context: 2, limit: 9, kind: 'files' }]);
  is('grants', 'find', await after({ files: true }, [{ entries: [{ path: 'a', kind: 'file', size: 1, modified: 0 }], more: true }], `const f = await files.find({ path: 'd', name: '*.txt', kind: 'file', atLeast: 3, since: new Date(7), limit: 1 }); return [f.entries[0].modified instanceof Date, f.more];`),
    [[true, true], { op: 'find', path: 'd', name: '*.txt', only: 'file', at_least: 3, since: 7, limit: 1, kind: 'files' }]);
  is('grants', 'tree', await after({ files: true }, [{ text: './\n', files: 0, folders: 0, bytes: 0, more: false }], `return (await files.tree('.', { depth: 2 })).text;`), ['./\n', { op: 'tree', path: '.', depth: 2, kind: 'files' }]);
  is('grants', 'diff gives a text', await after({ files: true }, [{ diff: 'x' }, { diff: 'y' }], `return [await files.diff('a', 'b'), await files.diff('a', { version: 2 })];`), [['x', 'y'], { op: 'diff', path: 'a', to: 'b', kind: 'files' }, { op: 'diff', path: 'a', version: 2, kind: 'files' }]);
  is('grants', 'history and undo', await after({ files: true }, [{ changes: [{ version: 1, at: 0, what: 'write', path: 'a', kind: 'file', size: 1 }] }, { version: 1, paths: ['a'] }], `const [change] = await files.history('a', { limit: 3 }); return [change.at instanceof Date, change.version, await files.undo({ version: 1 })];`),
    [[true, 1, { version: 1, paths: ['a'] }], { op: 'history', path: 'a', limit: 3, kind: 'files' }, { op: 'undo', version: 1, kind: 'files' }]);
  for (const call of [`files.readLines('f', { from: -1 })`, `files.edit('f')`, `files.edit('f', 'a')`, `files.edit('f', [5])`, `files.edit('f', [{ old: 'a' }])`, `files.copy('a')`, `files.link('a')`, `files.glob()`, `files.glob('*', 5)`, `files.grep(/x/)`, `files.grep('x', { include: [5] })`, `files.find(5)`, `files.find({ since: {} })`, `files.tree(5)`, `files.diff('a')`, `files.diff('a', {})`, `files.history(5)`, `files.undo(5)`]) {
    is('grants', `${call} is a rejection and asks nothing`, await after({ files: true }, [], `let p; try { p = ${call}; } catch (e) { return 'thrown'; } return p;`), ['TypeError']);
  }
  for (const call of [`files.read()`, `files.read(5)`, `files.read('f', { offset: -1 })`, `files.read('f', { length: 1.5 })`, `files.write('f')`, `files.write('f', 5)`, `files.write('f', { a: 1 })`, `files.writeJson('f')`, `files.rename('a')`, `files.list(5)`, `files.remove('f', 5)`, `files.stat(null)`]) {
    is('grants', `${call} is a rejection and asks nothing`, await after({ files: true }, [], `let p; try { p = ${call}; } catch (e) { return 'thrown'; } return p;`), ['TypeError']);
  }

  // invoke and secrets
  is('grants', 'invoke', await after({ invoke: true }, [{ done: 1 }, 2], `return [await invoke('sum', { x: 1 }, 'more'), await invoke('sum')];`), [[{ done: 1 }, 2], { kind: 'invoke', name: 'sum', args: { x: 1 } }, { kind: 'invoke', name: 'sum' }]);
  is('grants', 'secrets.get', await after({ secrets: true }, ['s'], `return secrets.get('api-key.1');`), ['s', { kind: 'reveal', name: 'api-key.1' }]);
  is('grants', 'names and looks', given({ invoke: true, secrets: true }).guest.run('[invoke.name, invoke.length, Object.isFrozen(secrets), Object.getPrototypeOf(secrets), Object.keys(secrets)]'), ['invoke', 2, true, null, ['get']]);
  for (const call of [`invoke()`, `invoke('')`, `invoke('a b')`, `invoke('1a')`, `invoke('__proto__')`, `invoke('x'.repeat(65))`, `invoke('sum', 10n)`, `secrets.get()`, `secrets.get('a b')`, `secrets.get('x'.repeat(129))`, `secrets.get(Symbol())`]) {
    is('grants', `${call} is a rejection and asks nothing`, await after({ invoke: true, secrets: true }, [], `let p; try { p = ${call}; } catch (e) { return 'thrown'; } return p;`), ['TypeError']);
  }

  const said = fresh();
  said.hooks.reportRejection(said.run('new TypeError("lost")'));
  said.hooks.reportRejection(said.run('({ a: "x".repeat(5000) })'));
  is('grants', 'a rejection that nobody handled', [said.lines[0][0], said.lines[0][1].split('\n')[0], said.lines[1][1].length], [2, 'Uncaught (in promise) TypeError: lost', 2_000]);
}
