// A person agrees in the middle of a program: asked by the client, at a terminal, or after the server was killed.
import assert from "node:assert/strict";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, beforeEach, describe, test } from "node:test";
import { Client as Modern, StreamableHTTPClientTransport as ModernHttp } from "@modelcontextprotocol/client";
import { StdioClientTransport as ModernStdio } from "@modelcontextprotocol/client/stdio";
import { Client as Older } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OlderStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { binary, folder, serve } from "./server.mjs";

const place = folder();
place.write("policy.toml", `grants = [
  { kind = "tool", name = "look", command = ["tee", "-a", "look.log"] },
  { kind = "tool", name = "deploy", command = ["tee", "-a", "deploy.log"], rule = "ask" },
]
`);
const program = `const all = await Promise.allSettled([
  tools.look({ n: 1 }),
  tools.deploy({ env: "prod" }),
  tools.deploy({ env: "test" }),
]);
return all.map((one) => one.status === "fulfilled" ? one.value : one.reason.message);`;
const denied = "the tool `deploy` has to be agreed to by someone: not today (`ask tool:deploy`)";
const name = { name: "test", version: "1" };
const pinned = { versionNegotiation: { mode: { pin: "2026-07-28" } } };
const stdio = { command: binary, args: ["mcp", "--manifest", "policy.toml"], env: place.env, cwd: place.path };

const marks = (file) => {
  try {
    return readFileSync(join(place.path, file), "utf8").trim();
  } catch {
    return "";
  }
};

beforeEach(() => ["look.log", "deploy.log"].forEach((file) => rmSync(join(place.path, file), { force: true })));
after(() => place[Symbol.dispose]());

/** Says yes to production with another place, and no to the rest. */
const person = (asked) => (request) => {
  asked.push(request.params);
  return request.params.message.includes('with {"env":"prod"}')
    ? { action: "accept", content: { decision: "once", args: '{"env":"staging"}' } }
    : { action: "accept", content: { decision: "deny", reason: "not today" } };
};

async function modern(transport, answer, options = {}) {
  const client = new Modern(name, { ...pinned, capabilities: { elicitation: { form: {} } }, ...options });
  if (answer) client.setRequestHandler("elicitation/create", answer);
  await client.connect(transport);
  return client;
}

const execute = (client, options) => client.callTool({ name: "execute", arguments: { program } }, options);
const expected = [{ n: 1 }, { env: "staging" }, denied];

describe("a client whose person can be asked", () => {
  test("today's protocol: all questions of a round together", async () => {
    const asked = [];
    const client = await modern(new ModernStdio(stdio), person(asked));
    const result = await execute(client);
    await client.close();
    assert.deepEqual(result.structuredContent.value, expected, JSON.stringify(result));
    assert.equal(asked.length, 2);
    assert.match(asked[0].message, /wants to do this: the tool `deploy`\nwith {"env":"prod"}\nIt is asked because of `ask tool:deploy`\.\nDone so far: look\./);
    assert.deepEqual(asked[0].requestedSchema.required, ["decision"]);
    assert.deepEqual([marks("look.log"), marks("deploy.log")], ['{"n":1}', '{"env":"staging"}']);
  });

  test("the protocol before, over pipes: while the call waits", async () => {
    const asked = [];
    const client = new Older(name, { capabilities: { elicitation: {} } });
    client.setRequestHandler(ElicitRequestSchema, person(asked));
    await client.connect(new OlderStdio(stdio));
    const result = await client.callTool({ name: "execute", arguments: { program } });
    await client.close();
    assert.deepEqual(result.structuredContent.value, expected, JSON.stringify(result));
    assert.deepEqual([asked.length, marks("deploy.log")], [2, '{"env":"staging"}']);
  });

  test("a form that is closed without a word leaves the program waiting", async () => {
    const client = new Older(name, { capabilities: { elicitation: {} } });
    client.setRequestHandler(ElicitRequestSchema, () => ({ action: "cancel" }));
    await client.connect(new OlderStdio(stdio));
    const result = await client.callTool({ name: "execute", arguments: { program } });
    await client.close();
    assert.equal(result.structuredContent.status, "suspended");
    assert.equal(marks("deploy.log"), "");
  });

  test("and is not shown again at once, in today's protocol either", async () => {
    let asked = 0;
    const client = await modern(new ModernStdio(stdio), () => ({ action: (asked++, "cancel") }));
    const result = await execute(client);
    await client.close();
    assert.deepEqual([result.structuredContent.status, asked, marks("deploy.log")], ["suspended", 2, ""]);
  });

  test("declining is a no", async () => {
    const client = await modern(new ModernStdio(stdio), () => ({ action: "decline" }));
    const result = await execute(client);
    await client.close();
    const refused = "the tool `deploy` has to be agreed to by someone, and was not (`ask tool:deploy`)";
    assert.deepEqual(result.structuredContent.value, [{ n: 1 }, refused, refused]);
    assert.equal(marks("deploy.log"), "");
  });

  test("a yes for the run is asked for once", async () => {
    const client = await modern(new ModernStdio(stdio), () => ({ action: "accept", content: { decision: "run" } }));
    const result = await execute(client);
    await client.close();
    assert.deepEqual(result.structuredContent.value, [{ n: 1 }, { env: "prod" }, { env: "test" }], JSON.stringify(result));
  });
});

/** The messages of the protocol, one by one, so that a round can be kept and sent again. */
async function raw(transport) {
  const waiting = new Map();
  transport.onmessage = (message) => waiting.get(message.id)?.(message);
  await transport.start();
  let next = 1;
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": name,
    "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } },
  };
  const call = (params, tool = "execute", args = { program }) => {
    const id = next++;
    const answer = new Promise((done) => waiting.set(id, done));
    transport.send({ jsonrpc: "2.0", id, method: "tools/call", params: { _meta: meta, name: tool, arguments: args, ...params } });
    return answer.then((message) => message.result ?? assert.fail(JSON.stringify(message)));
  };
  return { call, close: () => transport.close(), transport };
}

const answers = {
  "call-1": { action: "accept", content: { decision: "once", args: '{"env":"staging"}' } },
  "call-2": { action: "accept", content: { decision: "deny", reason: "not today" } },
};
const code = (result) => result.structuredContent?.error?.code;

describe("a request that is taken up again", () => {
  test("after the server was killed in between", async () => {
    const first = await raw(new ModernStdio(stdio));
    const asked = await first.call({});
    assert.equal(asked.resultType, "input_required", JSON.stringify(asked));
    assert.deepEqual(Object.keys(asked.inputRequests), ["call-1", "call-2"]);
    process.kill(first.transport.pid, "SIGKILL");
    await first.close();
    const second = await raw(new ModernStdio(stdio));
    const done = await second.call({ requestState: asked.requestState, inputResponses: answers });
    assert.deepEqual(done.structuredContent?.value, expected, JSON.stringify(done));
    assert.deepEqual([marks("look.log"), marks("deploy.log")], ['{"n":1}', '{"env":"staging"}']);
    // What was used is used.
    const again = await second.call({ requestState: asked.requestState, inputResponses: answers });
    assert.equal(code(again), "state.spent", JSON.stringify(again));
    assert.equal(marks("deploy.log"), '{"env":"staging"}');
    await second.close();
  });

  test("by a state that was made up, changed, or belongs to another request, is refused", async () => {
    const door = await raw(new ModernStdio(stdio));
    const { requestState } = await door.call({});
    const changed = `${requestState.slice(0, -2)}${requestState.endsWith("AA") ? "BB" : "AA"}`;
    for (const forged of ["", "AAAA", "%%%", changed, "A".repeat(100_000)]) {
      const result = await door.call({ requestState: forged, inputResponses: answers });
      assert.equal(code(result), "state.forged", forged.slice(0, 20));
    }
    const other = await door.call({ requestState, inputResponses: answers }, "execute", { program: `${program} ` });
    assert.equal(code(other), "state.request");
    assert.equal(marks("deploy.log"), "");
    await door.close();
  });

  test("after its time is refused", async () => {
    const door = await raw(new ModernStdio({ ...stdio, args: [...stdio.args, "--approval-time", "200ms"] }));
    const { requestState } = await door.call({});
    await new Promise((done) => setTimeout(done, 400));
    const late = await door.call({ requestState, inputResponses: answers });
    assert.equal(code(late), "state.expired", JSON.stringify(late));
    await door.close();
    assert.equal(marks("deploy.log"), "");
  });

  test("by another caller is refused", async () => {
    const [one, two] = ["one", "two"].map((who) => place.isolith("key", "create", who, "--policy", "policy.toml", "--scope", "runs,approvals"));
    const server = await serve(place);
    try {
      const as = (key) => raw(new ModernHttp(server.url, { requestInit: { headers: { authorization: `Bearer ${key}` } }, protocolVersion: "2026-07-28" }));
      const [own, foreign] = [await as(one), await as(two)];
      const { requestState } = await own.call({});
      const stolen = await foreign.call({ requestState, inputResponses: answers });
      assert.equal(code(stolen), "state.foreign", JSON.stringify(stolen));
      assert.equal(marks("deploy.log"), "");
      const done = await own.call({ requestState, inputResponses: answers });
      assert.deepEqual(done.structuredContent?.value, expected, JSON.stringify(done));
    } finally {
      server.stop();
    }
  });
});

describe("a client whose person cannot be asked", () => {
  test("is told to come back, and `resume` gives the result once someone agreed elsewhere", async () => {
    const client = new Older(name);
    await client.connect(new OlderStdio(stdio));
    const asked = await client.callTool({ name: "execute", arguments: { program } });
    const { status, run, approvals } = asked.structuredContent;
    assert.deepEqual([status, approvals.map((ask) => ask.args)], ["suspended", [{ env: "prod" }, { env: "test" }]]);
    const still = await client.callTool({ name: "resume", arguments: { run } });
    assert.equal(still.structuredContent.status, "suspended");
    // The model cannot agree for itself.
    const pushed = await client.callTool({ name: "resume", arguments: { run, decision: "approve" } });
    assert.equal(pushed.isError, true);
    assert.equal(marks("deploy.log"), "");
    place.isolith("approvals", "approve", run, "--all");
    for (let i = 0; i < 100; i++) {
      const done = await client.callTool({ name: "resume", arguments: { run } });
      if (done.structuredContent.status !== "suspended") {
        assert.deepEqual(done.structuredContent.value, [{ n: 1 }, { env: "prod" }, { env: "test" }]);
        await client.close();
        return;
      }
      await new Promise((wait) => setTimeout(wait, 50));
    }
    assert.fail("it does not go on");
  });

  test("and is told that it still waits, as often as it asks, when only some of it was agreed to", async () => {
    const client = new Older(name);
    await client.connect(new OlderStdio(stdio));
    const { run } = (await client.callTool({ name: "execute", arguments: { program } })).structuredContent;
    place.isolith("approvals", "approve", run, "1");
    for (let left = 2, i = 0; left > 1; i++) {
      assert.ok(i < 200, "it does not go on");
      await new Promise((wait) => setTimeout(wait, 50));
      const asked = await client.callTool({ name: "resume", arguments: { run } });
      left = asked.structuredContent.approvals?.length;
      assert.ok(left, JSON.stringify(asked));
    }
    // Longer than it is kept in memory for.
    await new Promise((wait) => setTimeout(wait, 300));
    const still = await client.callTool({ name: "resume", arguments: { run } });
    await client.close();
    assert.deepEqual(still.structuredContent.approvals?.map((ask) => ask.id), [2], JSON.stringify(still));
    assert.equal(marks("deploy.log"), '{"env":"prod"}');
  });

  test("an unknown run is said to be", async () => {
    const client = new Older(name);
    await client.connect(new OlderStdio(stdio));
    const result = await client.callTool({ name: "resume", arguments: { run: "nothing" } });
    await client.close();
    assert.equal(code(result), "run.unknown");
  });
});
