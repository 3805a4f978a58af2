// What is thrown, what is reported, and what a cancelled run may still do.

import { run } from './load.mjs';

const failing = (error) => ({ agent: () => ({ error }) });
const stopped = { agent: ({ label, cleanup }) => (label === 'tidy' && cleanup ? { ok: { text: 'tidied', outputTokens: 0 } } : { error: { kind: 'Cancelled', reason: 'stop' } }) };

export default {
  async 'a failure is an Error that carries what the host said'(assert) {
    const host = failing({ kind: 'AdapterSpawn', adapter: 'stub', cause: 'boom' });
    const { result } = await run('try { await agent("p"); } catch (e) { return [e instanceof Error, e.name, e.message, e.workflowError, Object.keys(e)]; }', { host });
    assert.deepEqual(result.value, [true, 'WorkflowThrow', 'AdapterSpawn: boom', { kind: 'AdapterSpawn', adapter: 'stub', cause: 'boom' }, ['workflowError']]);
  },
  async 'each kind says what happened'(assert) {
    const errors = [
      [{ kind: 'SchemaValidation', issues: ['a', 'b'], attempts: 1 }, 'SchemaValidation: a; b'], [{ kind: 'BudgetExhausted', spent: 3, total: 2 }, 'BudgetExhausted: 3 of 2 output tokens are spent'],
      [{ kind: 'AgentCapExceeded', cap: 1 }, 'AgentCapExceeded: a run may start 1 agents'], [{ kind: 'UnansweredQuestion', key: 'k' }, 'UnansweredQuestion: nobody answered `k`, and it has no default'],
      [{ kind: 'Divergence', call: 2, expected: 'x', found: 'y' }, 'Divergence: call 2 was `x` in the record and is `y` now'], [{ kind: 'SandboxViolation', message: 'm' }, 'SandboxViolation: m'],
      [{ kind: 'Timeout', what: 'agent', ms: 5 }, 'Timeout: agent took longer than 5 ms'], [{ kind: 'Newer' }, 'Newer'],
    ];
    for (const [error, message] of errors) {
      assert.equal((await run('try { await agent("p"); } catch (e) { return e.message; }', { host: failing(error) })).result.value, message);
      assert.deepEqual((await run('await agent("p");', { host: failing(error) })).result.error, error);
    }
  },
  async 'an uncaught exception is reported as text'(assert) {
    const cause = async (body) => (await run(body)).result.error;
    assert.deepEqual(await cause('throw new TypeError("bad");'), { kind: 'AdapterSpawn', adapter: 'run', cause: 'TypeError: bad' });
    assert.equal((await cause('throw undefined;')).cause, 'undefined');
    assert.equal((await cause('throw { toString() { throw 1; } };')).cause, 'a value that has no text');
    assert.equal((await cause('throw Object.assign(new Error("e"), { workflowError: 5 });')).cause, 'Error: e');
    assert.equal((await cause('throw Object.assign(new Error("e"), { workflowError: { kind: "x", big: 1n } });')).cause, 'Error: e');
  },
  async 'events that no call took along come with the outcome'(assert) {
    const { result } = await run('phase("P"); log("a"); log({ b: 1 }); log(new Error("c")); log(undefined); throw new Error("x");');
    assert.deepEqual((await run('log("a"); return 1;')).result, { outcome: 'finished', value: 1, events: [{ type: 'log', message: 'a' }] });
    assert.deepEqual(result.events, [{ type: 'phase-started', phase: 'P' }, ...['a', '{"b":1}', 'Error: c', 'undefined'].map((message) => ({ type: 'log', message }))]);
  },
  async 'a value that JSON cannot hold is a failure with its place'(assert) {
    const cause = async (body) => (await run(body)).result.error?.cause;
    assert.match(await cause('return { a: [1, () => 1] };'), /the value\.a\[1\] is a function/);
    assert.match(await cause('return 1n;'), /the value is a BigInt/);
    assert.match(await cause('return Symbol("x");'), /is a symbol/);
    assert.match(await cause('const a = {}; a.b = { a }; return a;'), /the value\.b\.a is inside itself/);
    assert.deepEqual((await run('const x = { n: 1 }; return [x, x, new Date(0), undefined, NaN, { f() {}, toJSON: () => 7 }];')).result.value, [{ n: 1 }, { n: 1 }, '1970-01-01T00:00:00.000Z', null, null, 7]);
  },
  async 'an error of the host itself is thrown as it is'(assert) {
    const host = { agent: () => { throw new RangeError('broken'); } };
    const { result } = await run('try { await agent("p"); } catch (e) { return [e.name, e.message, e.workflowError === undefined]; }', { host });
    assert.deepEqual(result.value, ['RangeError', 'broken', true]);
    assert.match((await run('await agent("p");', { host: { agent: () => undefined } })).result.error.cause, /answered `agent` with nothing/);
  },
  async 'after a cancellation nothing is asked any more'(assert) {
    const body = 'const said = []; for (const call of [() => agent("a"), () => agent("b"), () => askUserQuestion("q"), () => sleep(1), () => now(), () => random(), () => waitFor("s")]) await call().catch((e) => said.push(e.message)); return said;';
    const { result, calls, clock } = await run(body, { host: stopped });
    assert.deepEqual(result.value, Array(7).fill('Cancelled: stop'));
    assert.deepEqual([calls.length, clock.waits, result.events], [1, [], []]);
  },
  async 'cleanup goes on after a cancellation, and tells the host so'(assert) {
    const { result, calls } = await run('try { await agent("work"); } finally { log(await cleanup(() => agent("p", { label: "tidy" }))); await agent("late").catch((e) => log(e.message)); }', { host: stopped });
    assert.deepEqual(calls.map(({ label, cleanup }) => [label, cleanup]), [['work', undefined], ['tidy', true]]);
    assert.deepEqual(result.error, { kind: 'Cancelled', reason: 'stop' });
    assert.deepEqual(result.events.map(({ message }) => message), ['tidied', 'Cancelled: stop']);
  },
  async 'cleanup is a plain call otherwise'(assert) {
    const { calls } = await run('await cleanup(() => agent("p")); await cleanup(() => { throw new Error("x"); }).catch(() => {}); await agent("q");');
    assert.deepEqual(calls.map(({ cleanup }) => cleanup), [undefined, undefined]);
  },
};
