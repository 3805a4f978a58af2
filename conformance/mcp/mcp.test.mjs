// The official clients against isolith, over pipes and over HTTP, in today's protocol and the one before.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { Client as Modern, StreamableHTTPClientTransport as ModernHttp } from "@modelcontextprotocol/client";
import { StdioClientTransport as ModernStdio } from "@modelcontextprotocol/client/stdio";
import { Client as Older } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OlderStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as OlderHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { binary, folder, serve } from "./server.mjs";

const place = folder();
// What programs may do here is the operator's word, whoever writes them.
place.write("policy.toml", 'grants = ["kv:notes"]\n[limits]\ntimeout = "60s"\n');
const name = { name: "test", version: "1" };
const pinned = { versionNegotiation: { mode: { pin: "2026-07-28" } } };
let server, key;
before(async () => {
  key = place.isolith("key", "create", "agents", "--policy", "policy.toml", "--scope", "runs,metrics");
  server = await serve(place);
});
after(() => {
  server?.stop();
  place[Symbol.dispose]();
});

const stdio = { command: binary, args: ["mcp", "--allow-kv", "notes"], env: place.env, cwd: place.path };
const http = () => ({ requestInit: { headers: { authorization: `Bearer ${key}` } } });
const ways = {
  "today's protocol over pipes": async () => [new Modern(name, pinned), new ModernStdio(stdio)],
  "today's protocol over HTTP": async () => [new Modern(name, pinned), new ModernHttp(server.url, http())],
  "the one before over pipes": async () => [new Older(name), new OlderStdio(stdio)],
  "the one before over HTTP": async () => [new Older(name), new OlderHttp(server.url, http())],
};

/** A call in either client's form. */
const call = (client, args, options) =>
  client instanceof Modern
    ? client.callTool({ name: "execute", arguments: args }, options)
    : client.callTool({ name: "execute", arguments: args }, undefined, options);

/** Waits until no run is left on the server, for less time than a run may take. */
async function stopped() {
  for (let i = 0; i < 200; i++) {
    const figures = await (await fetch(new URL("/metrics", server.url), http().requestInit)).text();
    if (/^isolith_runs_live 0$/m.test(figures)) return;
    await new Promise((done) => setTimeout(done, 100));
  }
  assert.fail("a run goes on though nobody waits for it");
}

for (const [way, open] of Object.entries(ways)) {
  describe(way, () => {
    let client;
    before(async () => {
      const [made, transport] = await open();
      client = made;
      await client.connect(transport);
    });
    after(() => client?.close());

    test("the list of tools is short, and always the same", async () => {
      const { tools } = await client.listTools();
      assert.deepEqual(tools.map((tool) => tool.name), ["execute", "resume", "workspace_script"]);
      // A token is about four characters of such text; the list is sent with every request to a model.
      assert.ok(JSON.stringify(tools).length / 4 < 1500);
      assert.equal(JSON.stringify(tools), JSON.stringify((await client.listTools()).tools));
      assert.deepEqual(tools[0].inputSchema.required, ["program"]);
    });

    test("a program runs, and only its result comes back", async () => {
      const program = "const n: number = input.list.reduce((a, b) => a + b, 0); console.log('sum', n); return { n }";
      const result = await call(client, { program, input: { list: [1, 2, 39] } });
      assert.notEqual(result.isError, true);
      const { run, ...rest } = result.structuredContent;
      assert.deepEqual(rest, { status: "ok", value: { n: 42 }, logs: ["sum 42"] });
      assert.match(run, /^[0-9a-f-]{36}$/);
      assert.deepEqual(result.content, [{ type: "text", text: 'sum 42\n{"n":42}' }]);
    });

    test("a mistake comes back with its place, for the model to mend", async () => {
      const result = await call(client, { program: "const a = 1;\nreturn a.b.c" });
      assert.equal(result.isError, true);
      assert.equal(result.structuredContent.error.name, "TypeError");
      assert.equal(result.structuredContent.error.line, 2);
      assert.match(result.content[0].text, /^TypeError: .*\(line 2, column \d+\)/);
    });

    test("a program has what the operator granted", async () => {
      const result = await call(client, { program: "await kv.put('k', 'v'); return await kv.get('k')" });
      assert.equal(result.structuredContent.value, "v", JSON.stringify(result));
    });

    test("and nothing else, whatever the arguments say", async () => {
      const denied = await call(client, { program: "return await fetch('https://example.com')" });
      assert.equal(denied.structuredContent.error.name, "ReferenceError");
      const asked = await call(client, { program: "return 1", grants: ["egress:*"] });
      assert.equal(asked.isError, true);
      assert.match(asked.content[0].text, /there is no argument `grants`/);
    });

    test("limits can be tightened, not widened", async () => {
      const tight = await call(client, { program: "for (;;);", limits: { timeout: "100ms" } });
      assert.match(tight.structuredContent.error.kind, /timeout|cpu_limit/);
      const wrong = await call(client, { program: "return 1", limits: { timeout: "soon" } });
      assert.equal(wrong.isError, true);
      assert.equal(wrong.structuredContent.error.code, "request.invalid");
    });

    test("an engine can be asked for, and one that is not there is said to be missing", async () => {
      const light = await call(client, { program: "return 6 * 7", engine: "auto" });
      assert.equal(light.structuredContent.value, 42, JSON.stringify(light));
      const missing = await call(client, { program: "return 6 * 7", engine: "v8" });
      assert.equal(missing.structuredContent.error.code, "engine.missing", JSON.stringify(missing));
      const unknown = await call(client, { program: "return 6 * 7", engine: "v9" });
      assert.equal(unknown.structuredContent.error.code, "request.invalid");
    });

    test("what it writes is told while it runs", async () => {
      const told = [];
      const program = "for (let i = 0; i < 3; i++) { console.log('step', i); await new Promise((r) => setTimeout(r, 20)) } return 'done'";
      const result = await call(client, { program }, { onprogress: ({ message }) => told.push(message) });
      assert.equal(result.structuredContent.value, "done");
      assert.deepEqual(told, ["step 0", "step 1", "step 2"]);
    });

    test("a call can be given up", async () => {
      const stop = new AbortController();
      const started = call(client, { program: "console.log('on'); for (;;) await new Promise((r) => setTimeout(r, 5))" }, {
        signal: stop.signal,
        onprogress: () => stop.abort(new Error("enough")),
      });
      await assert.rejects(started);
      const next = await call(client, { program: "return 1" });
      assert.equal(next.structuredContent.value, 1);
      // Over HTTP it is the hanging up that counts, which clients of the older protocol do not do for one call.
      if (way === "today's protocol over HTTP") await stopped();
    });

    test("a script has its outputs in order and an exit code, whatever happens", async () => {
      const script = async (args) => (await client.callTool({ name: "workspace_script", arguments: args })).structuredContent;
      assert.deepEqual(await script({ code: "console.log('a'); console.error('b'); return { n: 1 }" }), {
        outputs: [{ type: "stdout", data: "a\n" }, { type: "stderr", data: "b\n" }, { type: "result", value: { n: 1 } }],
        exitCode: 0,
      });
      const thrown = await script({ code: "throw new TypeError('no')" });
      assert.deepEqual([thrown.exitCode, thrown.error.name, thrown.error.message], [1, "TypeError", "no"]);
      assert.equal((await script({ code: "return (" })).exitCode, 1);
      assert.equal((await script({ code: "for (;;);", timeoutMs: 100 })).exitCode, 1);
      const python = await script({ code: "print(1)", language: "python" });
      const words = "WorkerLoaderScriptRunner: language 'python' is not supported (the script runner is JavaScript-only; use workspace_run_code for other languages).";
      assert.deepEqual(python, { outputs: [], exitCode: 1, error: { name: "Error", message: words } });
    });

    test("an unknown tool is an error that names the right one", async () => {
      await assert.rejects(
        Promise.resolve(client.callTool({ name: "exceute", arguments: {} })).then((result) => {
          if (result.isError) throw new Error(result.content[0].text);
        }),
        /did you mean `execute`/,
      );
    });
  });
}

test("a tool that nobody brings does not exist", async () => {
  place.write("tools.toml", 'grants = ["tool:ghost"]\n');
  const client = new Modern(name, pinned);
  await client.connect(new ModernStdio({ ...stdio, args: ["mcp", "--manifest", "tools.toml"] }));
  const result = await call(client, { program: "return typeof tools.ghost" });
  await client.close();
  assert.equal(result.structuredContent.value, "undefined", JSON.stringify(result));
});

test("the configuration that the document shows works", async () => {
  const [, shown] = /```json\n(.*?)```/s.exec(readFileSync("mcp.md", "utf8"));
  const { args } = JSON.parse(shown).mcpServers.isolith;
  const client = new Modern(name, pinned);
  await client.connect(new ModernStdio({ ...stdio, args }));
  const result = await call(client, { program: "return typeof fetch" });
  await client.close();
  assert.equal(result.structuredContent.value, "function", JSON.stringify(result));
});

test("without a key nobody is served once there is one", async () => {
  const answer = await fetch(server.url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
  });
  assert.equal(answer.status, 401);
});

test("a page in a browser cannot drive it", async () => {
  const answer = await fetch(server.url, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}`, origin: "https://evil.example" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
  });
  assert.equal(answer.status, 403);
});

test("garbage is refused, and the next request is served", async () => {
  const post = (body, type = "application/json") =>
    fetch(server.url, { method: "POST", headers: { "content-type": type, accept: "application/json, text/event-stream", authorization: `Bearer ${key}` }, body });
  for (const body of ["", "{", "[]", "null", '{"jsonrpc":"2.0"}', '{"jsonrpc":"1.0","id":1,"method":"tools/list"}', `${"[".repeat(100_000)}`]) {
    const answer = await post(body);
    assert.equal(answer.status, 400, body.slice(0, 40));
    const { error } = await answer.json();
    assert.ok([-32700, -32600].includes(error.code), JSON.stringify(error));
  }
  assert.ok((await post("{}", "text/plain")).status >= 400);
  const stream = await fetch(server.url, { headers: { accept: "text/event-stream", authorization: `Bearer ${key}` } });
  assert.deepEqual([stream.status, stream.headers.get("allow"), (await stream.json()).error.code], [405, "POST", -32600]);
  const init = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: name };
  const answer = await post(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: init }));
  assert.equal((await answer.json()).result.serverInfo.name, "isolith");
});

test("what comes too early over pipes is not answered, and ends nothing", () => {
  const early = ['{"jsonrpc":"2.0","id":99,"result":{}}', '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}', "{", '{"id":{}}'];
  const init = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: name };
  const lines = [...early, JSON.stringify({ jsonrpc: "2.0", id: 7, method: "initialize", params: init })];
  const said = execFileSync(binary, ["mcp"], { env: place.env, input: `${lines.join("\n")}\n`, encoding: "utf8" });
  const answers = said.trim().split("\n").map((line) => JSON.parse(line));
  assert.equal(answers.find((answer) => answer.id === 7)?.result.serverInfo.name, "isolith", said);
});

test("the inspector's command line lists and calls", () => {
  const inspect = (...args) => {
    const all = ["node_modules/.bin/mcp-inspector", "--cli", binary, "mcp", ...args];
    return JSON.parse(execFileSync(process.execPath, all, { env: place.env, encoding: "utf8", timeout: 60_000 }));
  };
  assert.equal(inspect("--method", "tools/list").tools[0].name, "execute");
  const called = inspect("--method", "tools/call", "--tool-name", "execute", "--tool-arg", "program=return 6 * 7");
  assert.equal(called.structuredContent.value, 42);
});
