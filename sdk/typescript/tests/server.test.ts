// A real server, over its WebSocket and plain HTTP.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Isolith, RequestError } from "isolith";
import { Cutter } from "./support/cutter.js";
import { Server } from "./support/server.js";

let server: Server;
before(async () => {
  server = await Server.start();
});
after(() => server?.[Symbol.asyncDispose]());

const reconnect = { attempts: 20, firstDelayMs: 10, longestDelayMs: 200 };
const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

test("runs, tools and output work as they do with a local daemon", async () => {
  await using isolith = new Isolith({ url: server.url });
  const seen: string[] = [];
  const { value } = await isolith.run("console.log('é'); return tools.add([1, 2])", {
    tools: { add: async ([a, b]: [number, number]) => a + b },
    onOutput: ({ text }) => void seen.push(text),
  });
  assert.equal(value, 3);
  assert.deepEqual(seen, ["é"]);
});

test("two hundred runs share one connection", async () => {
  await using cutter = await Cutter.before(server.port);
  await using isolith = new Isolith({ url: cutter.url });
  const runs = Array.from({ length: 200 }, (_, i) => isolith.run("return tools.mine()", { tools: { mine: async () => i } }));
  const values = (await Promise.all(runs)).map(({ value }) => value);
  assert.deepEqual(
    values,
    Array.from({ length: 200 }, (_, i) => i),
  );
  assert.equal(cutter.connections, 1);
});

test("large messages pass both ways", async () => {
  await using isolith = new Isolith({ url: server.url });
  const text = "é".repeat(1 << 20);
  const { value } = await isolith.run<string>("return tools.echo(input)", { input: text, tools: { echo: (t: string) => t } });
  assert.equal(value, text);
});

test("a run goes on over a lost connection, and no tool is called twice", async () => {
  await using cutter = await Cutter.before(server.port);
  await using isolith = new Isolith({ url: cutter.url, reconnect });
  const called: number[] = [];
  const { value } = await isolith.run<number[]>(
    "const all = []; for (let i = 0; i < 12; i++) all.push(...await Promise.all([tools.step(2 * i), tools.step(2 * i + 1)])); return all;",
    {
      tools: {
        step: async (n: number) => {
          called.push(n);
          if (n % 4 === 0) cutter.cut();
          await pause(n % 3);
          if (n % 5 === 0) setTimeout(() => cutter.cut(), 1);
          return n;
        },
      },
    },
  );
  const all = Array.from({ length: 24 }, (_, i) => i);
  assert.deepEqual(value, all);
  assert.deepEqual(called, all);
  assert.ok(cutter.connections > 3);
});

test("a run ends while nobody listens, and its outcome is there afterwards", async () => {
  await using cutter = await Cutter.before(server.port);
  await using isolith = new Isolith({ url: cutter.url, reconnect });
  const { value } = await isolith.run("await tools.cut(); await new Promise((r) => setTimeout(r, 30)); return 'kept'", {
    tools: {
      cut: () => {
        setTimeout(() => {
          cutter.down = true;
          cutter.cut();
          setTimeout(() => {
            cutter.down = false;
          }, 100);
        }, 5);
      },
    },
  });
  assert.equal(value, "kept");
});

test("a run can be taken up by another client", async () => {
  const run = `taken-up-${process.pid}`;
  const first = new Isolith({ url: server.url, reconnect: { attempts: 0 } });
  await using cutter = await Cutter.before(server.port);
  await first.close();
  const lost = new Isolith({ url: cutter.url, reconnect: { attempts: 0 } });
  const asked = new Promise<void>((resolve) => {
    lost
      .run("return (await tools.answer()) + 1", {
        run,
        tools: {
          answer: () => {
            resolve();
            return new Promise(() => {});
          },
        },
      })
      .catch(() => {});
  });
  await asked;
  cutter.down = true;
  cutter.cut();
  await using second = new Isolith({ url: server.url });
  assert.equal((await second.attach(run, { tools: { answer: () => 41 } })).value, 42);
});

test("a run survives a restart of the server", async () => {
  await using own = await Server.start();
  await using isolith = new Isolith({ url: own.url, reconnect: { attempts: 60, firstDelayMs: 50, longestDelayMs: 200 } });
  let calls = 0;
  const { value } = await isolith.run("const before = 20; return before + await tools.wait()", {
    limits: { timeout: "60s" },
    tools: {
      wait: async () => {
        calls++;
        // Long enough to be suspended, and so on disk, before the server goes.
        await pause(1500);
        await own.kill();
        await own.startAgain();
        return 22;
      },
    },
  });
  assert.equal(value, 42);
  assert.equal(calls, 1);
});

test("an unknown run cannot be attached to", async () => {
  await using isolith = new Isolith({ url: server.url });
  await assert.rejects(isolith.attach("never-started"), (error) => error instanceof RequestError && error.code === "run.unknown");
});

test("runs are listed, shown and stopped over HTTP", async () => {
  await using isolith = new Isolith({ url: server.url });
  const run = `listed-${process.pid}`;
  const running = isolith.run("await tools.wait()", { run, tools: { wait: () => new Promise(() => {}) } });
  await pause(50);
  assert.ok(["running", "suspended"].includes((await isolith.runs.get(run)).status));
  assert.match(JSON.stringify(await isolith.runs.list({ limit: 10 })), new RegExp(run));
  await isolith.runs.cancel(run);
  assert.equal((await running).error?.kind, "cancelled");
  assert.equal((await isolith.runs.get(run, { wait: "1s" })).status, "error");
  await assert.rejects(isolith.runs.get("nobody"), (error) => error instanceof RequestError && error.status === 404);
});

test("secrets go in and never come out", async () => {
  await using isolith = new Isolith({ url: server.url });
  await isolith.secrets.set("SDK_TEST", "hunter2hunter2");
  const listed = JSON.stringify(await isolith.secrets.list());
  assert.match(listed, /SDK_TEST/);
  assert.doesNotMatch(listed, /hunter2/);
  await isolith.secrets.delete("SDK_TEST");
  assert.doesNotMatch(JSON.stringify(await isolith.secrets.list()), /SDK_TEST/);
});

test("the audit shows what was refused", async () => {
  await using isolith = new Isolith({ url: server.url });
  const run = `audited-${process.pid}`;
  await isolith.run("await kv.put('a', 1)", { run, grants: ["kv:read sdk_audit"] });
  assert.match(JSON.stringify(await isolith.audit({ run, denied: true })), /sdk_audit/);
});

test("with a key, the right one is needed", async () => {
  await using own = await Server.start();
  const key = own.createKey("sdk");
  await own.kill();
  await own.startAgain();
  await using right = new Isolith({ url: own.url, key });
  assert.equal((await right.run("return 1")).value, 1);
  assert.ok(await right.runs.list());
  for (const wrong of [{}, { key: "isk_wrong" }]) {
    await using isolith = new Isolith({ url: own.url, ...wrong });
    await assert.rejects(isolith.run("1"), (error) => error instanceof RequestError && error.status === 401);
    await assert.rejects(isolith.runs.list(), (error) => error instanceof RequestError && error.status === 401);
  }
});
