// The shapes of workflow files, arguments, workflows run by name, and modules next to a workflow.

import { run } from './load.mjs';

export default {
  async 'a definition is run with everything, and `this` is the definition'(assert) {
    const body = 'return defineWorkflow({ name: "t", extra: 5, run(ctx) { return [Object.keys(ctx), ctx.agent === agent, this.extra, Object.isFrozen(ctx)]; } });';
    const { result } = await run(body, { legacy: false });
    const { PRIMITIVES } = await import('./load.mjs');
    assert.deepEqual(result.value, [PRIMITIVES.split(', '), true, 5, true]);
  },
  async 'a file that gives no definition fails, unless it is of the old shape'(assert) {
    assert.match((await run('return { run() {} };', { legacy: false })).result.error.cause, /not a defineWorkflow/);
    assert.deepEqual((await run('return { run: 1 };', { legacy: true })).result.value, { run: 1 });
    assert.match((await run('return defineWorkflow({});')).result.error.cause, /needs a function/);
  },
  async 'nothing returned is no value'(assert) {
    assert.deepEqual((await run('log("hi");')).result, { outcome: 'finished', events: [{ type: 'log', message: 'hi' }] });
  },
  async 'args are null or deeply frozen'(assert) {
    assert.equal((await run('return args === null;')).result.value, true);
    const body = 'const threw = (f) => { try { f(); return false; } catch { return true; } }; return [threw(() => { args.a = 2; }), threw(() => { args.d.push(1); }), threw(() => { delete args.a; }), args];';
    assert.deepEqual((await run(body, { input: { args: { a: 1, d: [{}] } } })).result.value, [true, true, true, { a: 1, d: [{}] }]);
  },
  async 'a child has its own args and shares numbers, phase and budget'(assert) {
    const { result, calls } = await run('const mine = { k: [1] }; await agent("p", { label: "a" }); const c = await workflow("kid", mine); mine.k.push(2); return [c, await agent("p", { label: "z" }), budget.spent()];', {
      input: { args: 'root' },
      children: { kid: 'return defineWorkflow({ async run() { phase("Kid"); let frozen = false; try { args.k.push(3); } catch { frozen = true; } return [args, frozen, await agent("c", { label: "c" })]; } });' },
    });
    assert.deepEqual(result.value, [[{ k: [1] }, true, 'text of c'], 'text of z', 3]);
    assert.deepEqual(calls.map(({ key }) => key), ['0:default:a', '1:Kid:c', '2:Kid:z']);
  },
  async 'a child without args gets null, and its failure is the parent\'s to catch'(assert) {
    const children = { kid: 'if (args === null) throw new TypeError("no args"); return 1;' };
    assert.equal((await run('try { await workflow("kid"); } catch (e) { return String(e); }', { children })).result.value, 'TypeError: no args');
  },
  async 'children have no children, and unknown names are refused'(assert) {
    const { result } = await run('return await workflow("kid");', { children: { kid: 'return await workflow("kid");' } });
    assert.deepEqual(result.error, { kind: 'AdapterSpawn', adapter: 'workflow', cause: 'workflow() nesting is one level only' });
    for (const name of ['nope', 'toString', '__proto__']) {
      assert.deepEqual((await run(`return await workflow("${name}");`)).result.error, { kind: 'AdapterSpawn', adapter: 'workflow', cause: `no workflow named "${name}"` });
    }
  },
  async 'a module next to a workflow has the same primitives'(assert) {
    const helper = 'import { agent, args, budget, z } from "./@isolith/workflow.js"; export const N = z.number(); export const help = async () => [await agent("h", { label: "h" }), args, budget.total]; export const early = (() => { try { return Date.now(); } catch (e) { return e.message; } })();';
    const main = 'import { help, early } from "./helper.js"; export default async ({ agent }) => { await agent("p", { label: "a" }); return [await help(), early]; };';
    const { result, calls } = await run('', { files: { 'main.ts': main, 'helper.js': helper }, input: { args: { q: 1 }, budgetTotal: 9 } });
    assert.deepEqual(result.value, [['text of h', { q: 1 }, 9], 'SandboxViolation: Date.now() is not allowed in a workflow']);
    assert.deepEqual(calls.map(({ key }) => key), ['0:default:a', '1:default:h']);
  },
  async 'patches are on in a new run and as recorded in an old one'(assert) {
    const body = 'return [patched("a"), patched("b")];';
    const given = async (input) => (await run(body, { input })).result.value;
    assert.deepEqual([await given({}), await given({ patches: null }), await given({ patches: ['b'] }), await given({ patches: [] })], [[true, true], [true, true], [false, true], [false, false]]);
  },
};
