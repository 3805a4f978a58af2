// The driver, on its own and under the real Code Mode.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { toolDefinition } from "@tanstack/ai";
import { createCodeModeTool, type IsolateDriver } from "@tanstack/ai-code-mode";
import { Isolith } from "isolith";
import { createIsolithDriver, type ToolBinding } from "isolith/tanstack";
import { z } from "zod";
import { binary } from "./support/binary.js";

const client = new Isolith({ binary: binary() });
after(() => client.close());
// The assignment is the test: the types of the two packages agree.
const driver: IsolateDriver = createIsolithDriver({ client });

type Execute = (args: unknown) => unknown;
const bindings = (functions: Record<string, Execute>): Record<string, ToolBinding> =>
  Object.fromEntries(
    Object.entries(functions).map(([name, execute]) => [
      name,
      { name, description: "", inputSchema: {}, execute: async (args: unknown) => execute(args) },
    ]),
  );
async function execute(code: string, functions: Record<string, Execute> = {}, config: { timeout?: number; memoryLimit?: number } = {}) {
  const context = await driver.createContext({ bindings: bindings(functions), ...config });
  const result = await context.execute(code);
  await context.dispose();
  return result;
}
const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

test("values follow JSON", async () => {
  const rows: [string, unknown][] = [
    ["return 1 + 1", 2],
    ["return '123'", "123"],
    ["return null", null],
    ["return undefined", undefined],
    ["return () => 1", undefined],
    ["1 + 1", undefined],
    ["() => 1", undefined],
    ["return [undefined, NaN, -0, () => 1]", [null, null, 0, null]],
    ["return { a: undefined, d: new Date(0), m: new Map([[1, 2]]) }", { d: "1970-01-01T00:00:00.000Z", m: {} }],
    ["return Promise.resolve({ then: undefined, x: 1 })", { x: 1 }],
    ["x = 5; return [x, this === globalThis, typeof arguments]", [5, true, "object"]],
    ["return 1 // the end", 1],
    ["'use strict'; console.log(1); try { y = 5 } catch (e) { return e.name }", "ReferenceError"],
  ];
  for (const [code, value] of rows) {
    const result = await execute(code);
    assert.ok(result.success, `${code}: ${JSON.stringify(result.error)}`);
    assert.deepEqual(result.value, value, code);
    assert.ok(Array.isArray(result.logs));
  }
});

test("errors have the names that Code Mode knows", async () => {
  const rows: [string, object, string, RegExp][] = [
    ["for (;;) {}", { timeout: 100 }, "TimeoutError", /timed out after 100ms/],
    ["await new Promise((r) => setTimeout(r, 60_000))", { timeout: 100 }, "TimeoutError", /timed out/],
    ["await new Promise(() => {})", {}, "TimeoutError", /no host work will ever resolve/],
    ["const all = []; for (;;) all.push(new Array(1e4).fill(1))", { memoryLimit: 16 }, "MemoryLimitError", /memory limit/],
    ["const all = []; for (;;) all.push(new ArrayBuffer(1e6))", { memoryLimit: 16 }, "MemoryLimitError", /memory limit/],
    ["const f = () => f() + 1; return f()", {}, "StackOverflowError", /stack/],
    ["let x = ;", {}, "SyntaxError", /line 1/],
    ["})(); (async () => {", {}, "SyntaxError", /line 1/],
    ["console.log(1); })(); (async () => {", {}, "SyntaxError", /line 1, column 17/],
    ["return 1n", {}, "TypeError", /BigInt/],
    ["const a = {}; a.a = a; return a", {}, "TypeError", /circular/i],
    ["throw 'text'", {}, "Error", /^text$/],
    ["throw null", {}, "Error", /^null$/],
    ["throw { name: 'Mine', message: 'm' }", {}, "Mine", /^m$/],
    ["throw new Error('out of memory, lol')", {}, "Error", /^out of memory, lol$/],
    ["nope()", {}, "ReferenceError", /nope/],
  ];
  for (const [code, config, name, message] of rows) {
    const result = await execute(code, {}, config);
    assert.equal(result.success, false, code);
    assert.equal(result.error?.name, name, `${code}: ${JSON.stringify(result.error)}`);
    assert.match(result.error?.message ?? "", message, code);
  }
});

test("stacks point into the code, and at nothing of the host", async () => {
  const first = await execute("console.log(1); null.x");
  assert.match(first.error?.stack ?? "", /code\.js:1:1\d\b/);
  const third = await execute("console.log(1)\n\n  null.x");
  assert.match(third.error?.stack ?? "", /code\.js:3:/);
  assert.doesNotMatch(`${first.error?.stack}${third.error?.stack}`, /helper|eval|node:|\.ts|\/work/);
});

test("tools run side by side, and the fastest wins a race", async () => {
  let running = 0;
  let most = 0;
  const tools = {
    external_slow: async (args: unknown) => {
      most = Math.max(most, ++running);
      await pause((args as { ms: number }).ms);
      running--;
      return args;
    },
  };
  const code = `
    const all = await Promise.all([1, 2, 3, 4, 5].map((n) => external_slow({ ms: 10 + n })));
    const first = await Promise.race([external_slow({ ms: 200 }), external_slow({ ms: 1 })]);
    return [all.length, first.ms];`;
  assert.deepEqual((await execute(code, tools)).value, [5, 1]);
  assert.ok(most >= 5);
});

test("a call without arguments gets an empty object, and execute gets one argument", async () => {
  const seen: unknown[][] = [];
  const binding: ToolBinding = {
    name: "t",
    description: "",
    inputSchema: {},
    execute: async (...args: unknown[]) => void seen.push(args),
  };
  const context = await driver.createContext({ bindings: { external_t: binding } });
  await context.execute("await external_t(); await external_t(null); await external_t({ a: 1 }); await external_t(0)");
  assert.deepEqual(seen, [[{}], [{}], [{ a: 1 }], [0]]);
});

test("the deadline is one for everything, tool calls included", async () => {
  const started = Date.now();
  const result = await execute("await external_never()", { external_never: () => new Promise(() => {}) }, { timeout: 150 });
  assert.equal(result.error?.name, "TimeoutError");
  assert.ok(Date.now() - started < 10_000);
});

test("failures of tools are catchable, and calls that are not awaited are made", async () => {
  let made = 0;
  const tools = {
    external_fail: () => {
      throw new Error("broken");
    },
    external_big: () => ({ n: 1n }),
    external_count: () => ++made,
  };
  const code = `
    external_count(); external_count();
    const all = await Promise.allSettled([external_fail({}), external_big({}), external_count({})]);
    let cyclic; try { const a = {}; a.a = a; await external_count(a) } catch (e) { cyclic = e.name }
    return [all.map((one) => one.status === 'rejected' ? one.reason.message : one.value), cyclic];`;
  const { value } = (await execute(code, tools)) as { value: [unknown[], string] };
  assert.equal(value[0][0], "broken");
  assert.match(String(value[0][1]), /BigInt/);
  assert.deepEqual([value[0][2], value[1], made], [3, "TypeError", 3]);
  const uncaught = await execute("await external_fail({})", tools);
  assert.deepEqual([uncaught.error?.name, uncaught.error?.message], ["Error", "broken"]);
});

test("console lines have their prefixes and show objects as JSON", async () => {
  const code = `
    console.log("a", 1, { b: [1] }, null, undefined, true);
    console.info("i"); console.warn("w"); console.error("e", new TypeError("t"));
    const cycle = {}; cycle.c = cycle; console.log(cycle, 1n, Symbol("s"), "100%", { toString() { throw 1 }, n: 1n });
    JSON.stringify = () => "forged"; String = () => "forged"; Array.prototype.join = () => "forged";
    console.log({ a: 1 }, "x");
    return { a: 1 };`;
  const result = await execute(code);
  assert.deepEqual(result.logs, [
    'a 1 {"b":[1]} null undefined true',
    "INFO: i",
    "WARN: w",
    "ERROR: e TypeError: t",
    "[object Object] 1 Symbol(s) 100% [unprintable]",
    '{"a":1} x',
  ]);
  assert.deepEqual(result.value, { a: 1 });
});

test("logs are kept when the code fails, and are each execution's own", async () => {
  const context = await driver.createContext({ bindings: {} });
  const [first, second] = await Promise.all([
    context.execute("console.log('one'); throw new Error('x')"),
    context.execute("console.log('two')"),
  ]);
  assert.deepEqual([first.logs, second.logs], [["one"], ["two"]]);
});

test("logs are cut, and say so once", async () => {
  const many = await execute("for (let i = 0; i < 20000; i++) console.log(i); return 'done'");
  assert.equal(many.value, "done");
  assert.equal(many.logs?.length, 10_001);
  assert.deepEqual(many.logs?.slice(-2), ["9999", "[log output truncated]"]);
  const long = await execute("for (let i = 0; i < 30; i++) console.log('é'.repeat(100000)); return 'done'");
  assert.equal(long.value, "done");
  assert.equal(long.logs?.length, 11);
  assert.equal(long.logs?.at(-1), "[log output truncated]");
});

test("lines can be had as they are written", async () => {
  const lines: string[] = [];
  const live = createIsolithDriver({ client, onLog: (line) => lines.push(line) });
  const context = await live.createContext({ bindings: bindings({ external_look: () => lines.push("tool") }) });
  await context.execute("console.log('a'); await external_look(); console.warn('b')");
  assert.deepEqual(lines, ["a", "tool", "WARN: b"]);
});

test("names need not begin with external_", async () => {
  const tools = {
    external_a: () => "ea",
    a: () => "a",
    snippet_x: () => "sx",
    $: () => "dollar",
    [`external_${"n".repeat(90)}`]: () => "long",
  };
  const code = `return [await external_a(), await a(), await snippet_x(), await $(), await external_${"n".repeat(90)}(), typeof isolith$]`;
  assert.deepEqual((await execute(code, tools)).value, ["ea", "a", "sx", "dollar", "long", "undefined"]);
  await assert.rejects(driver.createContext({ bindings: bindings({ "a-b": () => 1 }) }), /Invalid tool name/);
  await assert.rejects(driver.createContext({ bindings: {}, memoryLimit: 1 }), /at least 8/);
});

test("executions of one context wait for each other", async () => {
  const order: string[] = [];
  const context = await driver.createContext({
    bindings: bindings({
      external_mark: async (args) => {
        order.push(String(args));
        await pause(5);
      },
    }),
  });
  await Promise.all(["a", "b", "c"].map((name) => context.execute(`await external_mark("${name}1"); await external_mark("${name}2")`)));
  assert.deepEqual(order, ["a1", "a2", "b1", "b2", "c1", "c2"]);
});

test("a tool may open a context of its own on the same driver", async () => {
  const tools = { external_nested: async () => (await execute("return 20 + await external_one()", { external_one: () => 1 })).value };
  assert.equal((await execute("return 2 * await external_nested({})", tools)).value, 42);
});

test("a disposed context says so, and ends what runs", async () => {
  const context = await driver.createContext({ bindings: bindings({ external_wait: () => new Promise(() => {}) }) });
  const running = context.execute("await external_wait()");
  const queued = context.execute("return 1");
  await pause(20);
  await context.dispose();
  await context.dispose();
  const disposed = { success: false, error: { name: "DisposedError", message: "Context has been disposed" }, logs: [] };
  assert.deepEqual(await running, disposed);
  assert.deepEqual(await queued, disposed);
  assert.deepEqual(await context.execute("return 1"), disposed);
});

test("nothing survives from one execution to the next", async () => {
  const context = await driver.createContext({ bindings: {} });
  await context.execute("globalThis.kept = 1");
  assert.equal((await context.execute("return typeof kept")).value, "undefined");
});

test("a daemon that cannot be started is a failed execution, not a rejection", async () => {
  const broken = createIsolithDriver({ client: new Isolith({ binary: "/nowhere/isolith" }) });
  const context = await broken.createContext({ bindings: {} });
  const result = await context.execute("return 1");
  assert.deepEqual([result.success, result.error?.name, result.error?.code], [false, "ConnectionError", "daemon.missing"]);
  await context.dispose();
});

test("too many tool calls end the execution", async () => {
  const few = createIsolithDriver({ client, maxToolCalls: 3 });
  const context = await few.createContext({ bindings: bindings({ external_t: () => 1 }) });
  const result = await context.execute("for (let i = 0; i < 5; i++) await external_t()");
  assert.deepEqual(
    [result.error?.name, result.error?.message],
    ["ToolCallLimitError", "Exceeded the maximum of 3 tool calls per execution"],
  );
});

test("the real Code Mode runs TypeScript with tools through it", async () => {
  const events: string[] = [];
  const weather = toolDefinition({
    name: "weather",
    description: "The weather of a city",
    inputSchema: z.object({ city: z.string() }),
    outputSchema: z.object({ degrees: z.number() }),
  }).server(async ({ city }) => ({ degrees: city.length }));
  const tool = createCodeModeTool({ driver, tools: [weather], timeout: 10_000 });
  const run = (typescriptCode: string) =>
    tool.execute?.({ typescriptCode }, { emitCustomEvent: (name: string) => events.push(name) } as never) as Promise<
      Record<string, unknown>
    >;
  const result = await run(`
    interface Row { city: string; degrees: number }
    const cities: string[] = ["Oslo", "Lisbon"];
    const rows: Row[] = await Promise.all(cities.map(async (city) => ({ city, ...(await external_weather({ city })) })));
    console.warn(rows.length);
    return rows;`);
  assert.deepEqual(result.result, [
    { city: "Oslo", degrees: 4 },
    { city: "Lisbon", degrees: 6 },
  ]);
  assert.deepEqual(result.logs, ["WARN: 2"]);
  assert.ok(events.includes("code_mode:external_call") && events.includes("code_mode:console"));
  const refused = (await run("try { await external_weather({ city: 1 }) } catch (e) { return e.message }")) as { result: string };
  assert.match(refused.result, /validation failed/i);
  const failed = (await run("null.x")) as { success: boolean; error: { name: string } };
  assert.deepEqual([failed.success, failed.error.name], [false, "TypeError"]);
});
