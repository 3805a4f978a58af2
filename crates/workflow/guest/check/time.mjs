// Waiting: sleep, signals, limits of time, trying again, the clock and chance of the host.

import { run } from './load.mjs';

const value = async (body, options) => (await run(body, options)).result.value;
const MONTH = 30 * 86_400_000;

export default {
  async 'durations are written in many ways'(assert) {
    const { clock } = await run('for (const d of [7, "1500ms", "10s", "5m", "2h", "1.5s", 0.2, { hours: 1, minutes: 2 }, { seconds: 3 }]) await sleep(d);');
    assert.deepEqual(clock.waits, [7, 1500, 10_000, 300_000, 7_200_000, 1500, 1, 3_720_000, 3000]);
    const said = await value('const said = []; for (const d of ["soon", "5 parsecs", -1, NaN, {}, { eons: 1 }, null, undefined, "99999w"]) await sleep(d).catch((e) => said.push(e.name)); return said;');
    assert.deepEqual(said, ['TypeError', 'TypeError', 'RangeError', 'RangeError', 'TypeError', 'TypeError', 'TypeError', 'TypeError', 'RangeError']);
  },
  async 'a wait longer than a timer is several'(assert) {
    const { clock } = await run('await sleep("30d");');
    assert.deepEqual([clock.waits, clock.at], [[2 ** 31 - 1, MONTH - 2 ** 31 + 1], MONTH]);
  },
  async 'a sleep tells what happened before it'(assert) {
    const { calls } = await run('log("a"); await sleep(1); await sleep(1); log("b"); await sleep(1);');
    assert.deepEqual(calls, [['a'], [], ['b']].map((said) => ({ fn: 'emit', events: said.map((message) => ({ type: 'log', message })) })));
  },
  async 'sleepUntil asks for the time and waits for the rest'(assert) {
    const host = { now: () => ({ ok: 10_000 }) };
    const { clock, calls } = await run('await sleepUntil(10500); await sleepUntil("1970-01-01T00:00:11Z"); await sleepUntil(new Date(12000)); await sleepUntil(1);', { host });
    assert.deepEqual([clock.waits, calls.map(({ fn }) => fn)], [[500, 1000, 2000], ['now', 'emit', 'now', 'emit', 'now', 'emit', 'now']]);
    assert.match((await run('await sleepUntil("never");')).result.error.cause, /not a moment/);
  },
  async 'now and random come from the host'(assert) {
    const { result, calls } = await run('const t = await now(); return [t instanceof Date, t.getTime(), t.constructor === Date, await random()];');
    assert.deepEqual([result.value, calls.map(({ fn }) => fn)], [[true, 1000, true, 0.5], ['now', 'random']]);
  },
  async 'a signal has a value, or there is none in time'(assert) {
    const host = { wait: ({ signal }) => (signal === 'go' ? { ok: { value: { x: 1 } } } : { ok: { timedOut: true } }) };
    const { result, calls } = await run('const v = await waitFor("go"); try { await waitFor("no", { timeout: "2s" }); } catch (e) { return [v, e.name, e.workflowError]; }', { host });
    assert.deepEqual(result.value, [{ x: 1 }, 'WorkflowThrow', { kind: 'Timeout', what: 'waitFor("no")', ms: 2000 }]);
    assert.deepEqual(calls.map(({ events, ...sent }) => sent), [{ fn: 'wait', signal: 'go' }, { fn: 'now' }, { fn: 'wait', signal: 'no', untilMs: 3000 }]);
  },
  async 'timeout ends the waiting, or stops its timer'(assert) {
    const { result, clock } = await run('const r = [await timeout("1s", () => 5), await timeout("1s", async () => { await sleep(10); return 6; })]; try { await timeout("1s", () => sleep("1m")); } catch (e) { r.push(e.message); } try { await timeout(5, () => { throw new Error("own"); }); } catch (e) { r.push(e.message); } return r;');
    assert.deepEqual(result.value, [5, 6, 'Timeout: timeout() took longer than 1000 ms', 'own']);
    assert.equal((await run('await timeout("1h", () => 5);')).clock.pending(), 0);
    assert.equal(clock.pending(), 1); // The minute that nobody waits for.
  },
  async 'retry tries again, as its policy says'(assert) {
    const { result, clock } = await run('let n = 0; const r = [await retry(() => { if (n++ < 2) throw new Error("no"); return n; }, { max: 5, delay: 100, factor: 2, maxDelay: 150 })]; n = 0; try { await retry(() => { n++; throw new Error("no"); }, 2); } catch { r.push(n); } n = 0; try { await retry(() => { n++; throw new Error("fatal"); }, { max: 9, retryIf: (e) => e.message !== "fatal" }); } catch { r.push(n); } return r;');
    assert.deepEqual([result.value, clock.waits], [[3, 3, 1], [100, 150]]);
    assert.match((await run('await retry(() => 1, { max: -1 });')).result.error.cause, /whole number/);
  },
  async 'a step is a function with retries and a limit of time, and changes no key'(assert) {
    const { result, calls } = await run('let n = 0; const r = [await step("outer", () => step("inner", () => agent("p", { label: "a" }))), await step("again", (attempt) => { if (n++ < 1) throw new Error("x"); return attempt; }, { retries: 1 })]; try { await step("slow", () => sleep("1h"), { timeout: "1m" }); } catch (e) { r.push(e.message); } return r;');
    assert.deepEqual(result.value, ['text of a', 1, 'Timeout: step("slow") took longer than 60000 ms']);
    assert.deepEqual(calls.filter(({ fn }) => fn === 'agent').map(({ key }) => key), ['0:default:a']);
  },
};
