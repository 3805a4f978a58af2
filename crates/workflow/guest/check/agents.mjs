// What an agent or a question is called, what is sent, and what comes back.

import { run } from './load.mjs';

const value = async (body, options) => (await run(body, options)).result.value;
const keys = async (body, options) => (await run(body, options)).calls.map((call) => call.key);
const replies = (data) => ({ agent: () => ({ ok: { text: 't', data, outputTokens: 0 } }) });

export default {
  async 'a call carries its number, phase, label and events'(assert) {
    const { result, calls } = await run('phase("One"); log("hi"); return await agent("say hi", { label: "a" });');
    assert.deepEqual(calls, [{
      fn: 'agent', seq: 0, phase: 'One', label: 'a', key: '0:One:a', prompt: 'say hi',
      events: [
        { type: 'phase-started', phase: 'One' }, { type: 'log', message: 'hi' },
        { type: 'agent-queued', key: '0:One:a', label: 'a', phase: 'One', prompt: 'say hi' },
      ],
    }]);
    assert.deepEqual(result, { outcome: 'finished', value: 'text of a', events: [] });
  },
  async 'the label is the first line that says something, cut at 48'(assert) {
    const body = 'await agent("\\n  Use it  \\nmore"); await agent("x".repeat(48)); await agent("x".repeat(49)); await agent("a".repeat(46) + " b c"); await agent("  "); await agent("");';
    assert.deepEqual(await keys(body), ['0:default:Use it', `1:default:${'x'.repeat(48)}`, `2:default:${'x'.repeat(47)}…`, `3:default:${'a'.repeat(46)}…`, '4:default:agent-4', '5:default:agent-5']);
  },
  async 'numbers are given in the order of the calls, and all are announced before the first runs'(assert) {
    const { calls } = await run('const a = agent("p", { label: "a" }); const q = askUserQuestion({ question: "q", default: 1 }); const b = agent("p", { label: "b" }); await a; await b; await q;');
    assert.deepEqual(calls.map(({ fn, key }) => [fn, key]), [['agent', '0:default:a'], ['ask', '1:default:q'], ['agent', '2:default:b']]);
    assert.deepEqual(calls.map(({ events }) => events.map(({ key }) => key)), [['0:default:a', '2:default:b'], [], []]);
  },
  async 'options of a call go to the host, and unknown ones do not'(assert) {
    const { calls } = await run('await agent("p", { label: "a", phase: "X", model: "m", agentType: "t", adapter: "ad", isolation: "worktree", timeout: "5m", other: 1 }); await agent("p", { label: "b" });');
    const { events, ...sent } = calls[0];
    assert.deepEqual(sent, { fn: 'agent', seq: 0, phase: 'X', label: 'a', key: '0:X:a', prompt: 'p', model: 'm', agentType: 't', adapter: 'ad', isolation: 'worktree', timeoutMs: 300_000 });
    assert.equal(calls[1].key, '1:default:b');
  },
  async 'a profile lies under the options, and what differs is listed'(assert) {
    const { calls } = await run('const r = profile({ model: "m1", agentType: "rev", instructions: "Be terse." }); await agent(r, "do it", { label: "a" }); await agent(r, "do it", { model: "m2", agentType: "rev" });');
    assert.deepEqual(calls.map(({ prompt, model, agentType, label }) => [prompt, model, agentType, label]), [['Be terse.\n\ndo it', 'm1', 'rev', 'a'], ['Be terse.\n\ndo it', 'm2', 'rev', 'do it']]);
    assert.deepEqual(calls.map(({ events }) => events[0].overrides), [undefined, ['model']]);
    assert.equal(calls[0].events[0].prompt, 'Be terse.\n\ndo it');
    assert.equal(await value('const p = profile({ model: "m" }); try { p.model = "x"; } catch { return "frozen"; }'), 'frozen');
  },
  async 'a schema is sent as JSON Schema, and the data is the result'(assert) {
    const { result, calls } = await run('return await agent("p", { schema: z.object({ n: z.number() }) });', { host: replies({ n: 7 }) });
    assert.deepEqual(calls[0].schema, { type: 'object', properties: { n: { type: 'number' } }, required: ['n'], additionalProperties: false });
    assert.deepEqual(result.value, { n: 7 });
  },
  async 'null data is null, and defaults are filled in'(assert) {
    assert.equal(await value('return await agent("p", { schema: z.string().nullable() });', { host: replies(null) }), null);
    assert.deepEqual(await value('return await agent("p", { schema: z.object({ b: z.string(), a: z.array(z.object({ n: z.number().default(3) })) }) });', { host: replies({ a: [{}, { n: 1 }], b: 'x' }) }), { b: 'x', a: [{ n: 3 }, { n: 1 }] });
  },
  async 'what is no schema of ours fails without a call'(assert) {
    const { result, calls } = await run('return await agent("p", { label: "a", schema: { type: "object" } });');
    const error = { kind: 'SchemaValidation', issues: ['agent({ schema }) requires a zod schema (e.g. z.object({ … }))'], attempts: 0 };
    assert.deepEqual(calls, []);
    assert.deepEqual(result, { outcome: 'failed', error, events: [{ type: 'agent-queued', key: '0:default:a', label: 'a', phase: 'default', prompt: 'p' }, { type: 'agent-failed', key: '0:default:a', error }] });
  },
  async 'retries are new calls with new numbers, after growing waits'(assert) {
    const host = { agent: ({ seq }) => (seq < 3 ? { error: { kind: 'AdapterSpawn', adapter: 'x', cause: 'boom' }, outputTokens: 2 } : { ok: { text: 'ok', outputTokens: 1 } }) };
    const { result, calls, clock } = await run('return [await agent("p", { label: "a", retries: { max: 3, delay: "1s", factor: 3 } }), budget.spent()];', { host });
    assert.deepEqual(result.value, ['ok', 7]);
    assert.deepEqual(calls.filter(({ fn }) => fn === 'agent').map(({ key }) => key), ['0:default:a', '1:default:a', '2:default:a', '3:default:a']);
    assert.deepEqual(clock.waits, [1000, 3000, 9000]);
    assert.equal((await run('return await agent("p", { retries: 2 });', { host })).calls.length, 3);
    const invalid = { agent: () => ({ error: { kind: 'SchemaValidation', issues: ['x'], attempts: 1 } }) };
    assert.equal((await run('return await agent("p", { retries: 2 });', { host: invalid })).calls.length, 3);
  },
  async 'what the run refuses is not tried again'(assert) {
    const host = { agent: () => ({ error: { kind: 'BudgetExhausted', spent: 1, total: 1 } }) };
    assert.equal((await run('return await agent("p", { retries: 5 });', { host })).calls.length, 1);
    const { calls } = await run('return await agent("p", { retries: 5, schema: 1 });');
    assert.equal(calls.length, 0);
  },
  async 'questions share the numbers and may have a key of their own'(assert) {
    const { result, calls } = await run('await agent("p"); return [await askUserQuestion({ question: "Pick\\none", choices: ["a"], allowOther: true, default: "d" }), await askUserQuestion({ key: "k", question: "?", default: null, phase: "X", label: "l" })];');
    assert.deepEqual(calls.slice(1).map(({ events, ...sent }) => sent), [
      { fn: 'ask', seq: 1, phase: 'default', label: 'Pick', key: '1:default:Pick', question: 'Pick\none', choices: ['a'], allowOther: true, default: 'd' },
      { fn: 'ask', seq: 2, phase: 'X', label: 'l', key: 'k', question: '?', default: null },
    ]);
    assert.deepEqual(result.value, ['d', null]);
  },
  async 'a prompt is a text'(assert) {
    const { result, calls } = await run('const said = []; for (const bad of [() => agent(), () => agent(5), () => agent({}, 5), () => agent("p", 5), () => askUserQuestion({})]) await bad().catch((e) => said.push(e.name)); return said;');
    assert.deepEqual([result.value, calls.length], [['TypeError', 'TypeError', 'TypeError', 'TypeError', 'TypeError'], 0]);
  },
  async 'the budget counts the tokens of replies'(assert) {
    const host = { agent: () => ({ ok: { text: 't', outputTokens: 10 } }) };
    const body = 'await agent("a"); await agent("b"); return [budget.total, budget.spent(), budget.remaining(), Object.isFrozen(budget)];';
    assert.deepEqual(await value(body, { host, input: { budgetTotal: 15 } }), [15, 20, 0, true]);
    assert.deepEqual(await value(body.replace('remaining()', 'remaining() === Infinity'), { host, input: {} }), [null, 20, true, true]);
  },
};
