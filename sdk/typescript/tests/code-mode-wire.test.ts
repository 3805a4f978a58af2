// `POST /v1/code-mode`, as TanStack's Cloudflare driver speaks it: every round sends the whole program and all results so far.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Server } from "./support/server.js";

let server: Server;
before(async () => {
  server = await Server.start();
});
after(() => server?.[Symbol.asyncDispose]());

type ToolResult = { success: true; value?: unknown } | { success: false; error: string };
interface Reply {
  status: "done" | "need_tools" | "error";
  success?: boolean;
  value?: unknown;
  error?: { name: string; message: string };
  logs?: string[];
  toolCalls?: { id: string; name: string; args?: unknown }[];
  continuationId?: string;
}

const post = (body: unknown) =>
  fetch(`${server.url}/v1/code-mode`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });

/** The driver's loop: tools one after the other, logs of all rounds joined. */
async function drive(code: string, tools: Record<string, (args: unknown) => unknown> = {}, timeout = 10_000) {
  const described = Object.keys(tools).map((name) => ({ name, description: "", inputSchema: {} }));
  const toolResults: Record<string, ToolResult> = {};
  const logs: string[] = [];
  for (let round = 0; round < 10; round++) {
    const asked = round === 0 ? { code, tools: described, timeout } : { code, tools: described, toolResults, timeout };
    const response = await post(asked);
    assert.equal(response.status, 200, await response.clone().text());
    const reply = (await response.json()) as Reply;
    logs.push(...(reply.logs ?? []));
    if (reply.status !== "need_tools") return { ...reply, logs, rounds: round };
    assert.match(reply.continuationId ?? "", /^[0-9a-f-]{36}$/);
    for (const { id, name, args } of reply.toolCalls ?? []) {
      try {
        const value = await tools[name]?.(args);
        toolResults[id] = value === undefined ? { success: true } : { success: true, value };
      } catch (thrown) {
        toolResults[id] = { success: false, error: (thrown as Error).message };
      }
    }
  }
  throw new Error("too many rounds");
}

test("a program without tools is done in one round", async () => {
  const { success, value, logs, rounds } = await drive("console.log('a', { b: 1 }); console.warn('w'); return { n: 1 }");
  assert.deepEqual({ success, value, logs, rounds }, { success: true, value: { n: 1 }, logs: ['a {"b":1}', "WARN: w"], rounds: 0 });
});

test("tools are asked for in rounds, each once, and logs are not repeated", async () => {
  const called: unknown[] = [];
  const add = (args: unknown) => {
    called.push(args);
    return (args as { n: number }).n + 1;
  };
  const code = `
    console.log("start");
    const [a, b] = await Promise.all([external_add({ n: 1 }), external_add({ n: 10 })]);
    console.log("between");
    return await external_add({ n: a + b });`;
  const result = await drive(code, { external_add: add });
  assert.deepEqual([result.value, result.rounds, result.logs], [14, 2, ["start", "between"]]);
  assert.deepEqual(called, [{ n: 1 }, { n: 10 }, { n: 13 }]);
});

test("a call in try and catch is a call, and its failure is caught", async () => {
  const fail = () => {
    throw new Error("broken");
  };
  const result = await drive("try { await external_fail({}) } catch (e) { return 'caught ' + e.message }", { external_fail: fail });
  assert.equal(result.value, "caught broken");
});

test("failures have names", async () => {
  assert.equal((await drive("null.x")).error?.name, "TypeError");
  assert.equal((await drive("for (;;) {}", {}, 100)).error?.name, "TimeoutError");
  assert.equal((await drive("let x = ;")).error?.name, "SyntaxError");
});

test("results for a program that the server never saw are replayed", async () => {
  const body = {
    code: "return (await external_a({})) + 1",
    tools: [{ name: "external_a", description: "", inputSchema: {} }],
    timeout: 5000,
  };
  const response = await post({ ...body, toolResults: { tc_0: { success: true, value: 41 } } });
  const reply = (await response.json()) as Reply;
  assert.deepEqual([reply.status, reply.value], ["done", 42]);
});

test("what is not such a request is refused in that protocol's way", async () => {
  for (const body of [{}, { code: "" }, { code: 1 }]) {
    const response = await post(body);
    assert.deepEqual([response.status, await response.json()], [400, { error: "Code is required" }]);
  }
  const broken = await post("{");
  assert.equal(broken.status, 500);
  assert.equal(((await broken.json()) as Reply).error?.name, "RequestError");
  const other = await fetch(`${server.url}/v1/code-mode`);
  assert.deepEqual([other.status, await other.json()], [405, { error: "Method not allowed" }]);
});
