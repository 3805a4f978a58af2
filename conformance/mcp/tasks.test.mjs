// Programs that take their time, as tasks of the protocol: asked after, answered, stopped, and found again after the server was killed.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, beforeEach, describe, test } from "node:test";
import { Client, StreamableHTTPClientTransport as Http } from "@modelcontextprotocol/client";
import { StdioClientTransport as Stdio } from "@modelcontextprotocol/client/stdio";
import { createTaskSessionFromClient } from "@modelcontextprotocol/ext-tasks/client";
import { binary, folder, serve } from "./server.mjs";

const place = folder();
place.write("policy.toml", `grants = [
  { kind = "tool", name = "look", command = ["tee", "-a", "look.log"] },
  { kind = "tool", name = "deploy", command = ["tee", "-a", "deploy.log"], rule = "ask" },
]
`);
const pause = (ms) => `await new Promise((done) => setTimeout(done, ${ms}));`;
const slow = `${pause(1500)} return await tools.look({ n: 1 });`;
const asks = `await tools.look({ n: 1 });
const all = await Promise.allSettled([tools.deploy({ env: "prod" }), tools.deploy({ env: "test" })]);
return all.map((one) => one.status === "fulfilled" ? one.value : one.reason.message);`;
const denied = "the tool `deploy` has to be agreed to by someone: not today (`ask tool:deploy`)";
const yes = { action: "accept", content: { decision: "once", args: '{"env":"staging"}' } };
const no = { action: "accept", content: { decision: "deny", reason: "not today" } };

const name = { name: "test", version: "1" };
const tasks = { extensions: { "io.modelcontextprotocol/tasks": {} } };
const person = { elicitation: { form: {} } };
const version = "2026-07-28";
const stdio = { command: binary, args: ["mcp", "--manifest", "policy.toml"], env: place.env, cwd: place.path };
const keys = {};
let server;
before(async () => {
  for (const [who, scope] of Object.entries({ one: "runs,approvals", two: "runs,approvals", three: "runs" })) {
    keys[who] = place.isolith("key", "create", who, "--policy", "policy.toml", "--scope", scope);
  }
  server = await serve(place);
});
beforeEach(() => ["look.log", "deploy.log"].forEach((file) => rmSync(join(place.path, file), { force: true })));
after(() => {
  server?.stop();
  place[Symbol.dispose]();
});

const marks = (file) => {
  try {
    return readFileSync(join(place.path, file), "utf8").trim();
  } catch {
    return "";
  }
};

/** A door that takes whole messages: what a client of tasks needs beside the official one, which has none of its own. */
async function pipes() {
  const transport = new Stdio(stdio);
  const waiting = new Map();
  transport.onmessage = (message) => waiting.get(message.id)?.(message);
  await transport.start();
  const send = (message) => {
    const answer = new Promise((done) => waiting.set(message.id, done));
    transport.send(message);
    return answer;
  };
  return { send, close: () => transport.close(), kill: () => process.kill(transport.pid, "SIGKILL"), connect: () => new Stdio(stdio) };
}

function web(who = "one") {
  const authorization = `Bearer ${keys[who]}`;
  const send = async (message) => {
    const headers = {
      authorization,
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      "mcp-protocol-version": version,
      "mcp-method": message.method,
      "mcp-name": message.params.taskId ?? message.params.name,
    };
    return (await fetch(server.url, { method: "POST", headers, body: JSON.stringify(message) })).json();
  };
  return { send, close: async () => {}, connect: () => new Http(server.url, { requestInit: { headers: { authorization } } }) };
}

let next = 1;
/** One request, from a client that can do this. */
async function ask(door, method, params, able = { ...tasks, ...person }) {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": version,
    "io.modelcontextprotocol/clientInfo": name,
    "io.modelcontextprotocol/clientCapabilities": able,
  };
  return door.send({ jsonrpc: "2.0", id: next++, method, params: { _meta, ...params } });
}

async function execute(door, program, able) {
  const answer = await ask(door, "tools/call", { name: "execute", arguments: { program } }, able);
  return answer.result ?? assert.fail(JSON.stringify(answer));
}

const get = (door, taskId, able) => ask(door, "tasks/get", { taskId }, able);

/** Asks until it stands as wanted. */
async function until(door, taskId, status, able) {
  for (let i = 0; i < 200; i++) {
    const { result, error } = await get(door, taskId, able);
    if (result?.status === status) return result;
    assert.ok(["working", "input_required"].includes(result?.status), JSON.stringify(result ?? error));
    await new Promise((wait) => setTimeout(wait, 50));
  }
  assert.fail(`it is never ${status}`);
}

/** The official session over tasks, around the official client. */
async function session(door, onInputRequest) {
  const client = new Client(name, { versionNegotiation: { mode: { pin: version } } });
  await client.connect(door.connect());
  const rawDispatch = async (request) => {
    const answer = await door.send({ jsonrpc: "2.0", id: next++, ...request });
    return answer.error ? { kind: "error", error: answer.error } : { kind: "result", result: answer.result };
  };
  const v2RequestFraming = { protocolVersion: version, clientInfo: name, clientCapabilities: { ...tasks, ...person } };
  const own = createTaskSessionFromClient(client, { endpointId: "test", rawDispatch, v2RequestFraming, onInputRequest });
  return { call: (program) => own.callTool("execute", { program }), close: async () => (await own.close(), await client.close()) };
}

for (const [way, open] of Object.entries({ "over pipes": pipes, "over HTTP": async () => web() })) {
  describe(way, () => {
    let door;
    before(async () => (door = await open()));
    after(() => door?.close());

    test("the official session waits for a program that takes its time", async () => {
      const own = await session(door);
      const seen = [];
      const execution = await own.call(slow);
      const { outcome } = await execution.settle({ onEvent: (event) => void (event.type === "task" && seen.push(event.task.status)) });
      await own.close();
      assert.deepEqual(outcome.result.structuredContent.value, { n: 1 }, JSON.stringify(outcome));
      assert.equal(seen[0], "working", seen.join());
      assert.equal(marks("look.log"), '{"n":1}');
    });

    test("and asks its person on the way", async () => {
      const asked = [];
      const own = await session(door, async (request) => {
        asked.push(request.params.message);
        return request.params.message.includes('{"env":"prod"}') ? yes : no;
      });
      const { outcome } = await (await own.call(asks)).settle();
      await own.close();
      assert.deepEqual(outcome.result.structuredContent.value, [{ env: "staging" }, denied], JSON.stringify(outcome));
      assert.equal(asked.length, 2);
      assert.deepEqual([marks("look.log"), marks("deploy.log")], ['{"n":1}', '{"env":"staging"}']);
    });

    test("a program that ends soon is no task", async () => {
      const result = await execute(door, "return 42");
      assert.deepEqual([result.resultType ?? "complete", result.structuredContent.value], ["complete", 42]);
    });

    test("a client that did not say it gets none, and may not ask for any", async () => {
      const result = await execute(door, slow, person);
      assert.deepEqual(result.structuredContent.value, { n: 1 });
      const { taskId } = await execute(door, asks);
      for (const [method, more] of [["tasks/get", {}], ["tasks/update", { inputResponses: { "call-1": yes } }], ["tasks/cancel", {}]]) {
        const { error } = await ask(door, method, { taskId, ...more }, person);
        assert.equal(error.code, -32021, JSON.stringify(error));
      }
      assert.equal((await get(door, taskId)).result.status, "input_required");
    });

    test("questions stay the same under their keys, whatever was answered between", async () => {
      const made = await execute(door, asks);
      assert.deepEqual([made.resultType, made.status], ["task", "input_required"], JSON.stringify(made));
      assert.ok(made.ttlMs > 0 && made.pollIntervalMs > 0 && Date.parse(made.createdAt) <= Date.parse(made.lastUpdatedAt));
      const first = await until(door, made.taskId, "input_required");
      assert.deepEqual(Object.keys(first.inputRequests), ["call-1", "call-2"]);
      assert.match(first.statusMessage, /^Done so far: look\./);
      // A key that nobody is asked about means nothing.
      const half = { "call-1": yes, "call-9": yes, nothing: yes };
      const { result } = await ask(door, "tasks/update", { taskId: made.taskId, inputResponses: half });
      assert.deepEqual(result, { resultType: "complete" });
      let rest;
      do rest = await until(door, made.taskId, "input_required"); while ("call-1" in rest.inputRequests);
      assert.deepEqual(rest.inputRequests, { "call-2": first.inputRequests["call-2"] });
      // What was answered is answered.
      const twice = await ask(door, "tasks/update", { taskId: made.taskId, inputResponses: { "call-1": no, "call-2": no } });
      assert.deepEqual(twice.result, { resultType: "complete" });
      const done = await until(door, made.taskId, "completed");
      assert.deepEqual(done.result.structuredContent.value, [{ env: "staging" }, denied]);
      assert.equal(marks("deploy.log"), '{"env":"staging"}');
    });

    test("a task that is stopped is stopped, at work or waiting", async () => {
      const [busy, waits] = [await execute(door, `${pause(5000)} return await tools.look({ n: 2 })`), await execute(door, asks)];
      for (const { taskId } of [busy, waits]) {
        assert.deepEqual((await ask(door, "tasks/cancel", { taskId })).result, { resultType: "complete" });
        await until(door, taskId, "cancelled");
      }
      assert.deepEqual([marks("look.log"), marks("deploy.log")], ['{"n":1}', ""]);
    });

    test("a program that fails is a result", async () => {
      const { taskId } = await execute(door, `${pause(1500)} throw new TypeError("no")`);
      const { result } = await until(door, taskId, "completed");
      assert.deepEqual([result.isError, result.structuredContent.error.message], [true, "no"]);
    });

    test("whose person cannot be asked waits until someone agreed elsewhere", async () => {
      const made = await execute(door, asks, tasks);
      assert.deepEqual([made.status, made.inputRequests], ["working", undefined]);
      assert.match(made.statusMessage, /isolith approvals show/);
      const { error } = await ask(door, "tasks/update", { taskId: made.taskId, inputResponses: { "call-1": yes } }, tasks);
      assert.equal(error.data.code, "approval.form", JSON.stringify(error));
      assert.equal(marks("deploy.log"), "");
      place.isolith("approvals", "approve", made.taskId, "--all");
      const done = await until(door, made.taskId, "completed", tasks);
      assert.deepEqual(done.result.structuredContent.value, [{ env: "prod" }, { env: "test" }]);
    });

    test("an unknown task is said to be", async () => {
      for (const taskId of ["nothing", "", "../x", "a".repeat(5000), "019a0000-0000-7000-8000-000000000000"]) {
        for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
          const { error } = await ask(door, method, { taskId, inputResponses: {} });
          assert.equal(error?.code, -32602, `${method} ${taskId.slice(0, 40)}`);
        }
      }
    });
  });
}

test("a client that goes takes along what runs for it", async () => {
  const child = spawn(binary, stdio.args, { env: place.env, cwd: place.path, stdio: ["pipe", "pipe", "ignore"] });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const send = async (message) => {
    child.stdin.write(`${JSON.stringify(message)}\n`);
    return JSON.parse((await lines.next()).value);
  };
  const made = await execute({ send }, `${pause(3000)} return await tools.look({ n: 3 })`);
  assert.equal(made.status, "working");
  const ended = new Promise((done) => child.on("exit", done));
  child.stdin.end();
  await ended;
  assert.equal(marks("look.log"), "");
  // It is not left behind as one that is at work for ever.
  const door = await pipes();
  assert.equal((await get(door, made.taskId)).error?.code, -32602);
  await door.close();
});

describe("after the server was killed", () => {
  test("a task that waits goes on, over pipes", async () => {
    const first = await pipes();
    const { taskId } = await execute(first, asks);
    first.kill();
    await first.close();
    const second = await pipes();
    await until(second, taskId, "input_required");
    await ask(second, "tasks/update", { taskId, inputResponses: { "call-1": yes, "call-2": no } });
    const done = await until(second, taskId, "completed");
    await second.close();
    assert.deepEqual(done.result.structuredContent.value, [{ env: "staging" }, denied]);
    assert.deepEqual([marks("look.log"), marks("deploy.log")], ['{"n":1}', '{"env":"staging"}']);
  });

  test("on a server too, and one that was at work is said to have been interrupted", async () => {
    const door = web();
    const [waits, busy] = [await execute(door, asks), await execute(door, `${pause(8000)} return 1`)];
    assert.equal(busy.status, "working");
    server.stop("SIGKILL");
    server = await serve(place);
    const { result } = await until(door, busy.taskId, "completed");
    assert.deepEqual([result.isError, result.structuredContent.error.name], [true, "Interrupted"]);
    await ask(door, "tasks/update", { taskId: waits.taskId, inputResponses: { "call-1": yes, "call-2": no } });
    const done = await until(door, waits.taskId, "completed");
    assert.deepEqual(done.result.structuredContent.value, [{ env: "staging" }, denied]);
  });
});

describe("a task of another caller", () => {
  test("does not exist", async () => {
    const [own, foreign] = [web("one"), web("two")];
    const { taskId } = await execute(own, asks);
    const unknown = (await get(foreign, "019a0000-0000-7000-8000-000000000000")).error;
    for (const [method, more] of [["tasks/get", {}], ["tasks/update", { inputResponses: { "call-1": yes } }], ["tasks/cancel", {}]]) {
      const { error } = await ask(foreign, method, { taskId, ...more });
      assert.deepEqual([error.code, error.data.code], [unknown.code, unknown.data.code], JSON.stringify(error));
    }
    assert.equal((await get(own, taskId)).result.status, "input_required");
    assert.equal(marks("deploy.log"), "");
  });

  test("and who may not agree has nobody to ask", async () => {
    const door = web("three");
    const { taskId, status } = await execute(door, asks);
    assert.equal(status, "working");
    const { error } = await ask(door, "tasks/update", { taskId, inputResponses: { "call-1": yes } });
    assert.equal(error.data.code, "key.scope", JSON.stringify(error));
    assert.equal(marks("deploy.log"), "");
  });
});
