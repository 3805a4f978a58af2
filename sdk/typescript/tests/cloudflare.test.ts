// The executor, on its own and under the real codemode.
import assert from "node:assert/strict";
import { register } from "node:module";
import { after, test } from "node:test";
import type { Executor } from "@cloudflare/codemode";
import { tool } from "ai";
import { Isolith } from "isolith";
import { IsolithExecutor, type ProviderFunction } from "isolith/cloudflare";
import { z } from "zod";
import { binary } from "./support/binary.js";

const client = new Isolith({ binary: binary() });
after(() => client.close());
// The assignment is the test: the types of the two packages agree.
const executor: Executor = new IsolithExecutor({ client });

const run = (code: string, fns: Record<string, ProviderFunction> = {}) => executor.execute(code, [{ name: "codemode", fns }]);

test("a namespace turns properties into calls, with any number of arguments", async () => {
  const { result, error } = await run("async () => [await codemode.add(1, 2), await codemode.none(), typeof codemode.then]", {
    add: async (a, b) => (a as number) + (b as number),
    none: async (...args) => args.length,
  });
  assert.deepEqual([result, error], [[3, 0, "undefined"], undefined]);
});

test("code comes as codemode normalizes it, or as models write it", async () => {
  const rows: [string, unknown][] = [
    ["async () => { return 5 }", 5],
    ["async () => {\nconst x = 1\nreturn (x + 1)\n}", 2],
    ["const x = 2; x * 2", 4],
    ["return 7", 7],
    ["export default async () => 8", 8],
    ["```ts\nasync () => { const n: number = 9; return n }\n```", 9],
  ];
  for (const [code, value] of rows) assert.deepEqual((await run(code)).result, value, code);
});

test("failures of code and of tools are values", async () => {
  assert.equal((await run("async () => { throw new Error('mine') }")).error, "mine");
  assert.match((await run("async () => { let x = ; }")).error ?? "", /Unexpected/);
  assert.equal((await run("async () => codemode.missing()")).error, 'Tool "missing" not found');
  const caught = await run("async () => { try { await codemode.fail() } catch (e) { return e.message } }", {
    fail: async () => {
      throw new Error("broken");
    },
  });
  assert.equal(caught.result, "broken");
  const slow = new IsolithExecutor({ client, timeout: 100 });
  assert.equal((await slow.execute("async () => { globalThis.setTimeout = () => {}; for (;;) {} }", [])).error, "Execution timed out");
});

test("logs have codemode's prefixes", async () => {
  const { logs } = await run("async () => { console.log('a', 1, {}); console.warn('w'); console.error(new Error('e')) }");
  assert.deepEqual(logs, ["a 1 [object Object]", "[warn] w", "[error] Error: e"]);
});

test("bytes pass both ways", async () => {
  const seen: unknown[] = [];
  const { result, error } = await run(
    `async () => {
      const view = new Uint8Array([0, 1, 2, 255]).subarray(1);
      const back = await codemode.bytes({ view, whole: new Uint8Array([7]).buffer });
      return [back instanceof Uint8Array, [...back], (await codemode.buffer()) instanceof ArrayBuffer];
    }`,
    {
      bytes: async (given) => {
        seen.push(given);
        return new Uint8Array([9, 250]);
      },
      buffer: async () => new Uint8Array([1]).buffer,
    },
  );
  assert.deepEqual([result, error], [[true, [9, 250], true], undefined]);
  assert.deepEqual(seen, [{ view: new Uint8Array([1, 2, 255]), whole: new Uint8Array([7]).buffer }]);
});

test("several providers, preludes and connectors", async () => {
  const { result, error } = await executor.execute(
    "async () => [await one.f(), await two.twice(4), await store.get({ key: 'k' })]",
    [
      { name: "one", fns: { f: async () => 1 } },
      { name: "two", fns: { f: async (n) => n }, prelude: "two.twice = async (n) => 2 * await two.f(n);" },
    ],
    { connectors: [{ name: "store", binding: { callTool: async (method, args) => [method, args] } }] },
  );
  assert.deepEqual([result, error], [[1, 8, ["get", { key: "k" }]], undefined]);
});

test("names that cannot be are errors, and nothing runs", async () => {
  const rows: [Parameters<Executor["execute"]>[1], RegExp][] = [
    [[{ name: "console", fns: {} }], /reserved/],
    [[{ name: "a-b", fns: {} }], /not a valid JavaScript identifier/],
    [
      [
        { name: "a", fns: {} },
        { name: "a", fns: {} },
      ],
      /Duplicate provider/,
    ],
    [[{ name: "a", fns: { "x-y": async () => 1, x_y: async () => 2 } }], /both sanitize to "x_y"/],
  ];
  for (const [providers, error] of rows) assert.match((await executor.execute("async () => 1", providers)).error ?? "", error);
});

test("the raw form still works, and late calls are not answered", async () => {
  assert.equal((await executor.execute("async () => codemode.one()", { one: async () => 1 })).result, 1);
});

test("the real codemode tool runs through it", async () => {
  // The package imports what only workers have, and uses none of it here.
  const workers = "data:text/javascript,export class RpcTarget {} export class WorkerEntrypoint {} export class DurableObject {}";
  const hook = `export const resolve = (name, context, next) =>
    name === "cloudflare:workers" ? { url: ${JSON.stringify(workers)}, shortCircuit: true } : next(name, context);`;
  register(`data:text/javascript,${encodeURIComponent(hook)}`);
  const { createCodeTool } = await import("@cloudflare/codemode/ai");
  const codemode = createCodeTool({
    tools: {
      "get-weather": tool({
        description: "The weather",
        inputSchema: z.object({ city: z.string() }),
        execute: async ({ city }: { city: string }) => ({ degrees: city.length }),
      }),
    },
    executor,
  });
  const result = await codemode.execute?.(
    { code: "const w = await codemode.get_weather({ city: 'Oslo' }); console.log('asked'); w.degrees" },
    { toolCallId: "1", messages: [] },
  );
  assert.deepEqual(result, { result: 4, logs: ["asked"] });
});
