// What a connection can go through, with a server that does it on demand. What servers really do is in `server.test.ts`.
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createServer } from "node:http";
import { test } from "node:test";
import { ConnectionError, Isolith, RequestError } from "isolith";
import { frame, outcome, type Peer, ScriptedServer } from "./support/scripted.js";

const HELLO = { type: "hello", version: "test" };
const reconnect = { attempts: 5, firstDelayMs: 5, longestDelayMs: 20 };

test("a key is sent, and a run's messages arrive in fragments and between pings", async () => {
  await using server = await ScriptedServer.start((peer) => {
    peer.say(HELLO);
    peer.onText = ({ run }) => {
      const text = JSON.stringify({ type: "outcome", run, outcome: outcome("é") });
      peer.raw(frame(1, text.slice(0, 10), false));
      peer.raw(frame(9, "are you there"));
      peer.raw(frame(0, text.slice(10), true));
    };
  });
  await using isolith = new Isolith({ url: `${server.url}/`, key: "isk_secret" });
  assert.equal((await isolith.run("1")).value, "é");
  const [peer] = server.peers;
  assert.equal(peer?.request.headers.authorization, "Bearer isk_secret");
  assert.equal(peer?.request.url, "/v1/socket");
  await isolith.close();
  assert.deepEqual(peer?.opcodes, [1, 10, 8]);
});

test("a run that the server knows is attached to, and its answers are sent again", async () => {
  let calls = 0;
  const seen: unknown[][] = [];
  await using server = await ScriptedServer.start((peer, index) => {
    peer.say(HELLO);
    const messages: unknown[] = [];
    seen.push(messages);
    peer.onText = (message) => {
      const { type, run } = message;
      messages.push({ ...message, run: "r", program: undefined });
      if (type === "run") peer.say({ type: "call", run, call: 0, name: "add", args: [1, 2] });
      // The answer has been sent, and is lost with the connection.
      if (type === "reply" && index === 0) peer.cut();
      if (type === "attach") peer.say({ type: "call", run, call: 0, name: "add", args: [1, 2] });
      if (type === "reply" && index === 1) {
        peer.say({ type: "error", run, call: 0, error: { code: "call.answered", message: "twice" } });
        peer.say({ type: "outcome", run, outcome: outcome(message.value) });
      }
    };
  });
  await using isolith = new Isolith({ url: server.url, reconnect });
  const tools = {
    add: (args: number[]) => {
      calls++;
      return (args[0] ?? 0) + (args[1] ?? 0);
    },
  };
  assert.equal((await isolith.run("tools.add([1, 2])", { tools })).value, 3);
  assert.equal(calls, 1, "a tool is never called twice for one call");
  assert.deepEqual(seen[1], [
    { type: "attach", run: "r", program: undefined },
    { type: "reply", run: "r", call: 0, value: 3, program: undefined },
  ]);
});

test("an answer that is ready while there is no connection is sent by the next, and the tool is not called again", async () => {
  let calls = 0;
  await using server = await ScriptedServer.start((peer, index) => {
    peer.say(HELLO);
    peer.onText = ({ type, run, value }) => {
      if (type === "run" || type === "attach") peer.say({ type: "call", run, call: 0, name: "slow" });
      if (type === "run") setTimeout(() => peer.cut(), 5);
      if (type === "reply" && index > 0) peer.say({ type: "outcome", run, outcome: outcome(value) });
    };
  });
  await using isolith = new Isolith({ url: server.url, reconnect: { ...reconnect, firstDelayMs: 100 } });
  const slow = async () => {
    calls++;
    await new Promise((done) => setTimeout(done, 20));
    return "late";
  };
  assert.equal((await isolith.run("1", { tools: { slow } })).value, "late");
  assert.equal(calls, 1);
});

test("a run that was aborted while there is no connection is stopped by the next", async () => {
  const controller = new AbortController();
  await using server = await ScriptedServer.start((peer, index) => {
    if (index === 1) peer.cut();
    peer.say(HELLO);
    peer.onText = ({ type, run }) => {
      if (index === 0) return void peer.cut();
      if (type === "attach" || type === "run") peer.say({ type: "outcome", run, outcome: outcome(1) });
    };
  });
  await using isolith = new Isolith({ url: server.url, reconnect });
  const aborted = assert.rejects(isolith.run("1", { run: "given-up", signal: controller.signal }), { name: "AbortError" });
  while (server.peers.length < 2) await new Promise((done) => setTimeout(done, 1));
  controller.abort();
  await aborted;
  // It may still find the connection that is just being lost.
  await isolith.run("2").catch(() => isolith.run("3"));
  await isolith.close();
  assert.ok(server.peers.some((peer) => peer.texts.includes('{"type":"cancel","run":"given-up"}')));
});

test("a run that the server never heard of is sent again", async () => {
  await using server = await ScriptedServer.start((peer, index) => {
    peer.say(HELLO);
    peer.onText = ({ type, run }) => {
      if (index === 0) return peer.cut();
      if (type === "attach") return peer.say({ type: "error", run, error: { code: "run.unknown", message: "no such run" } });
      peer.say({ type: "outcome", run, outcome: outcome(type) });
    };
  });
  await using isolith = new Isolith({ url: server.url, reconnect });
  assert.equal((await isolith.run("1")).value, "run");
});

test("a run that the server has forgotten is refused", async () => {
  await using server = await ScriptedServer.start((peer, index) => {
    peer.say(HELLO);
    peer.onText = ({ run }) => {
      if (index > 0) return peer.say({ type: "error", run, error: { code: "run.unknown", message: "no such run" } });
      peer.say({ type: "output", run, stream: "stdout", text: "a", at_ms: 0 });
      setTimeout(() => peer.cut(), 5);
    };
  });
  await using isolith = new Isolith({ url: server.url, reconnect });
  await assert.rejects(isolith.run("1"), (error) => error instanceof RequestError && error.code === "run.unknown");
});

test("outputs that were missed while the connection was lost are given at the end, none twice", async () => {
  const outputs = ["a", "b", "c", "d"].map((text) => ({ stream: "stdout", text, at_ms: 0 }));
  await using server = await ScriptedServer.start((peer, index) => {
    peer.say(HELLO);
    peer.onText = ({ run }) => {
      if (index === 0) {
        peer.say({ type: "output", run, ...outputs[0] });
        setTimeout(() => peer.cut(), 5);
        return;
      }
      peer.say({ type: "output", run, ...outputs[2] });
      peer.say({ type: "outcome", run, outcome: outcome(1, outputs) });
    };
  });
  await using isolith = new Isolith({ url: server.url, reconnect });
  const seen: string[] = [];
  await isolith.run("1", { onOutput: ({ text }) => void seen.push(text) });
  assert.deepEqual(seen, ["a", "b", "c", "d"]);
});

test("a connection that stays lost fails its runs", async () => {
  await using server = await ScriptedServer.start((peer, index) => {
    if (index > 0) return peer.cut();
    peer.say(HELLO);
    peer.onText = () => peer.cut();
  });
  await using isolith = new Isolith({ url: server.url, reconnect: { ...reconnect, attempts: 2 } });
  await assert.rejects(isolith.run("1"), (error) => error instanceof ConnectionError);
  assert.equal(server.peers.length, 4);
});

test("a server that falls silent is taken for lost", async () => {
  await using server = await ScriptedServer.start((peer, index) => {
    peer.say(HELLO);
    peer.onText = ({ run, type }) => {
      if (index > 0 && type === "attach") peer.say({ type: "outcome", run, outcome: outcome("back") });
    };
  });
  await using isolith = new Isolith({ url: server.url, reconnect, pingMs: 20 });
  assert.equal((await isolith.run("1")).value, "back");
});

test("large answers are given up once a pong has confirmed them", async () => {
  let asked = 0;
  await using server = await ScriptedServer.start((peer) => {
    peer.say(HELLO);
    peer.onText = ({ type, run, call }) => {
      const next = (number: number) => peer.say({ type: "call", run, call: number, name: "n" });
      if (type === "ping") {
        asked++;
        peer.say({ type: "pong" });
      }
      if (type === "run") next(0);
      if (type === "reply" && call === 40) peer.say({ type: "outcome", run, outcome: outcome(1) });
      else if (type === "reply") next((call as number) + 1);
    };
  });
  await using isolith = new Isolith({ url: server.url });
  await isolith.run("1", { tools: { n: () => "x".repeat(1 << 20) } });
  assert.equal(asked, 2);
});

test("what cannot be a server is an error that says so", async () => {
  const cases: [string, (peer: Peer) => void, string][] = [
    ["no JSON", (peer) => peer.raw(frame(1, "hello?")), "protocol.garbled"],
    ["refused", (peer) => peer.say({ type: "error", error: { code: "busy", message: "come back later" } }), "busy"],
    ["masked", (peer) => peer.raw(Buffer.from([0x81, 0x80, 0, 0, 0, 0])), "protocol.frame"],
    ["too large", (peer) => peer.raw(frame(1, "x".repeat(3000))), "protocol.frame"],
    ["closed", (peer) => peer.raw(frame(8, Buffer.from([3, 233]))), "connection.closed"],
    ["cut", (peer) => peer.cut(), "connection.lost"],
    ["silent", () => {}, "connection.silent"],
  ];
  for (const [name, play, code] of cases) {
    await using server = await ScriptedServer.start(play);
    await using isolith = new Isolith({ url: server.url, maxMessageBytes: 2000, connectTimeoutMs: 100 });
    await assert.rejects(isolith.run("1"), (error) => error instanceof ConnectionError && error.code === code, name);
  }
});

test("a refused upgrade gives the server's reason, and is not tried again", async () => {
  let requests = 0;
  const http = createServer().listen(0, "127.0.0.1");
  http.on("upgrade", (_request, socket) => {
    requests++;
    const body = JSON.stringify({ error: { code: "key.missing", message: "a key is needed", hint: "isolith key create" } });
    socket.write(`HTTP/1.1 401 Unauthorized\r\nContent-Length: ${body.length}\r\n\r\n`);
    setTimeout(() => socket.end(body), 5);
  });
  await new Promise<void>((listening) => http.once("listening", listening));
  const { port } = http.address() as { port: number };
  await using isolith = new Isolith({ url: `http://127.0.0.1:${port}`, reconnect });
  await assert.rejects(isolith.run("1"), (error) => {
    assert.ok(error instanceof RequestError);
    assert.deepEqual([error.code, error.status, error.hint], ["key.missing", 401, "isolith key create"]);
    return true;
  });
  assert.equal(requests, 1);
  http.close();
});

test("nothing listens", async () => {
  await using isolith = new Isolith({ url: "http://127.0.0.1:1" });
  await assert.rejects(isolith.run("1"), (error) => error instanceof ConnectionError && error.code === "connection.failed");
});

test("a large backlog waits for the connection to take it", async () => {
  const size = 1 << 20;
  await using server = await ScriptedServer.start((peer) => {
    peer.say(HELLO);
    peer.onText = ({ run, input }) => peer.say({ type: "outcome", run, outcome: outcome((input as string).length) });
  });
  await using isolith = new Isolith({ url: server.url });
  const runs = Array.from({ length: 24 }, (_, i) => isolith.run("1", { input: "x".repeat(size + i) }));
  const lengths = (await Promise.all(runs)).map(({ value }) => value);
  assert.deepEqual(
    lengths,
    Array.from({ length: 24 }, (_, i) => size + i),
  );
});
