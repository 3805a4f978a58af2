// Events, abort, DOMException, timers, performance.
export default async function check({ same, fresh, is }) {
  await same('events', String.raw`
(() => { const t = new EventTarget(); const log = []; t.addEventListener('a', (e) => log.push(e.type, e.target === t, e.currentTarget === t, e.eventPhase)); t.dispatchEvent(new Event('a')); return log; })()
(() => { const t = new EventTarget(); let n = 0; const f = () => n++; t.addEventListener('a', f); t.addEventListener('a', f); t.dispatchEvent(new Event('a')); t.removeEventListener('a', f); t.dispatchEvent(new Event('a')); return n; })()
(() => { const t = new EventTarget(); let n = 0; t.addEventListener('a', () => n++, {once: true}); t.dispatchEvent(new Event('a')); t.dispatchEvent(new Event('a')); return n; })()
(() => { const t = new EventTarget(); const log = []; t.addEventListener('a', (e) => { log.push(1); e.stopImmediatePropagation(); }); t.addEventListener('a', () => log.push(2)); t.dispatchEvent(new Event('a')); return log; })()
(() => { const t = new EventTarget(); t.addEventListener('a', (e) => e.preventDefault()); return [t.dispatchEvent(new Event('a')), t.dispatchEvent(new Event('a', {cancelable: true}))]; })()
(() => { const t = new EventTarget(); let ok; t.addEventListener('a', { handleEvent(e) { ok = this.x === 1 && e.type; }, x: 1 }); t.dispatchEvent(new Event('a')); return ok; })()
(() => { const t = new EventTarget(); const c = new AbortController(); let n = 0; t.addEventListener('a', () => n++, {signal: c.signal}); t.dispatchEvent(new Event('a')); c.abort(); t.dispatchEvent(new Event('a')); return n; })()
(() => { const t = new EventTarget(); const log = []; const b = () => log.push('b'); t.addEventListener('a', () => { log.push('a'); t.removeEventListener('a', b); t.addEventListener('a', () => log.push('c')); }); t.addEventListener('a', b); t.dispatchEvent(new Event('a')); return log; })()
(() => { const t = new EventTarget(); return t.addEventListener('a', null); })()
(() => { const t = new EventTarget(); return t.dispatchEvent({type: 'a'}); })()
(() => { const e = new Event('x', {bubbles: true, cancelable: true, composed: true}); return [e.type, e.bubbles, e.cancelable, e.composed, e.defaultPrevented, e.returnValue, e.cancelBubble, e.target, e.eventPhase, e.isTrusted, e.composedPath()]; })()
(() => { const e = new CustomEvent('x', {detail: {a: 1}}); return [e.type, e.detail, e instanceof Event]; })()
new CustomEvent('x').detail
new Event()
Event('x')
[Event.NONE, Event.AT_TARGET, Event.prototype.BUBBLING_PHASE]
(() => { const c = new AbortController(); const log = []; c.signal.onabort = (e) => log.push('on', e.type); c.signal.addEventListener('abort', () => log.push('listener')); c.abort(); c.abort(); return [log, c.signal.aborted, c.signal.reason.name, c.signal.reason.message, c.signal.reason.code]; })()
(() => { const c = new AbortController(); c.abort('why'); return c.signal.reason; })()
(() => { const c = new AbortController(); c.abort('why'); try { c.signal.throwIfAborted(); } catch (e) { return e; } })()
new AbortController().signal.throwIfAborted()
AbortSignal.abort().reason.name
AbortSignal.abort(5).reason
new AbortSignal()
AbortSignal.timeout(-1)
AbortSignal.any([AbortSignal.abort(1), AbortSignal.abort(2)]).reason
(() => { const a = new AbortController(); const b = new AbortController(); const s = AbortSignal.any([a.signal, b.signal]); b.abort(9); return [s.aborted, s.reason]; })()
AbortSignal.any([]).aborted
AbortSignal.any([1])
(() => { const e = new DOMException('m', 'NotFoundError'); return [e.name, e.message, e.code, String(e), e instanceof Error, Object.prototype.toString.call(e)]; })()
(() => { const e = new DOMException(); return [e.name, e.message, e.code]; })()
(() => { const e = new DOMException('m', {name: 'AbortError', cause: 5}); return [e.name, e.code, e.cause]; })()
[DOMException.ABORT_ERR, DOMException.prototype.DATA_CLONE_ERR, DOMException.length]
typeof new DOMException('x').stack
setTimeout('code')
setInterval()
queueMicrotask(5)
Object.prototype.toString.call(performance)
typeof performance.now()
[typeof SharedArrayBuffer, typeof WebAssembly, typeof Atomics, typeof navigator, typeof fetch].length
Object.keys(AbortSignal.prototype).sort().join()
Object.keys(EventTarget.prototype).sort().join()
`.trim().split('\n'));
  const guest = fresh({ now: () => 1_700_000_000_250 });
  is('events', 'performance is from the host', guest.run('[performance.now(), performance.timeOrigin, performance.toJSON()]'), [250, 1_700_000_000_000, { timeOrigin: 1_700_000_000_000 }]);
  is('events', 'what must not exist', guest.run(`['SharedArrayBuffer', 'Atomics', 'WebAssembly', 'navigator', 'fetch', 'require', 'process', 'Deno', 'Buffer', 'Worker', 'native', 'hooks'].filter((name) => name in globalThis)`), []);
  guest.run('globalThis.id = setTimeout((...a) => console.log(a), 5.7, 1, 2); setInterval(() => {}, -5); setTimeout(() => {}, 1e12); setTimeout(() => {}, "30"); clearTimeout(id); clearTimeout("x"); clearTimeout()');
  is('events', 'timers reach the engine', guest.timers.map(({ delay, repeat, values, cleared }) => [delay, repeat, values, cleared === true]),
    [[5, false, [1, 2], true], [1, true, [], false], [1, false, [], false], [30, false, [], false]]);
  is('events', 'globals are not enumerable', guest.run('Object.keys(globalThis).filter((name) => name !== "id")'), []);
  guest.run('AbortSignal.timeout(20).onabort = function () { globalThis.why = this.reason.name; }');
  guest.timers.at(-1).fn();
  is('events', 'a timeout aborts', guest.run('why'), 'TimeoutError');
  is('events', 'a listener that throws does not stop the next', guest.run(`(() => { const t = new EventTarget(); const log = []; t.addEventListener('a', () => { throw 1; }); t.addEventListener('a', () => log.push(2)); t.dispatchEvent(new Event('a')); return log; })()`), [2]);
}
process.on('unhandledRejection', () => {});
