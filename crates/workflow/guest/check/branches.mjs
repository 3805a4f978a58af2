// `parallel` and `pipeline`.

import { run } from './load.mjs';

const value = async (body, options) => (await run(body, options)).result.value;
const delays = (clock, ticks) => ({ agent: ({ label }) => new Promise((resolve) => { clock.start(() => resolve({ ok: { text: label, outputTokens: 0 } }), ticks[label] ?? 1); }) });

export default {
  async 'parallel keeps the order, gives nulls for failures and takes plain values'(assert) {
    assert.deepEqual(await value('return await parallel([() => agent("p", { label: "a" }), () => 5, () => { throw new Error("now"); }, async () => { throw new Error("later"); }, () => undefined]);'), ['text of a', 5, null, null, null]);
    assert.deepEqual(await value('return [await parallel([]), (await parallel([() => { throw 1; }]))[0] === null];'), [[], true]);
  },
  async 'parallel starts all before it waits, and waits for all'(assert) {
    const { makeClock } = await import('./load.mjs');
    const clock = makeClock();
    const { result, calls } = await run('const r = await parallel(["slow", "fast"].map((l) => () => agent("p", { label: l }))); await agent("p", { label: "after" }); return r;', { clock, host: delays(clock, { slow: 10 }) });
    assert.deepEqual([result.value, calls.map(({ label }) => label)], [['slow', 'fast'], ['slow', 'fast', 'after']]);
  },
  async 'parallel of what are no functions says so'(assert) {
    const { result } = await run('return await parallel([agent("p")]);');
    assert.match(result.error.cause, /parallel\(\) needs functions/);
    assert.match((await run('return await parallel(5);')).result.error.cause, /needs a list/);
  },
  async 'a cancellation is not the failure of one branch'(assert) {
    const host = { agent: ({ label }) => (label === 'b' ? { error: { kind: 'Cancelled', reason: 'stop' } } : { ok: { text: 't', outputTokens: 0 } }) };
    for (const body of ['return await parallel(["a", "b"].map((l) => () => agent("p", { label: l })));', 'return await pipeline(["a", "b"], (l) => agent("p", { label: l }));']) {
      assert.deepEqual((await run(body, { host })).result.error, { kind: 'Cancelled', reason: 'stop' });
    }
    const diverged = { agent: () => ({ error: { kind: 'Divergence', call: 0, expected: 'x', found: 'y' } }) };
    assert.equal((await run('return await parallel([() => agent("p")]);', { host: diverged })).result.error.kind, 'Divergence');
  },
  async 'stages get what was before, the item and its index'(assert) {
    assert.deepEqual(await value('return await pipeline(["x", "y"], async (p, it, i) => p + it + i, (p, it, i) => p + "/" + it + i);'), ['xx0/x0', 'yy1/y1']);
    assert.deepEqual(await value('return [await pipeline([1, 2]), await pipeline([], () => 1)];'), [[1, 2], []]);
  },
  async 'only a throw drops an item; a null goes on'(assert) {
    assert.deepEqual(await value('return await pipeline([1, 2, 3], (n) => { if (n === 2) throw n; return n === 3 ? null : n; }, (p) => "after:" + p);'), ['after:1', null, 'after:null']);
  },
  async 'items do not wait for each other'(assert) {
    const { makeClock } = await import('./load.mjs');
    const clock = makeClock();
    const { calls } = await run('return await pipeline(["slow", "fast"], (p, it) => agent("1", { label: "1" + it }), (p, it) => agent("2", { label: "2" + it }));', { clock, host: delays(clock, { '1slow': 10 }) });
    assert.deepEqual(calls.map(({ key }) => key), ['0:default:1slow', '1:default:1fast', '2:default:2fast', '3:default:2slow']);
  },
};
