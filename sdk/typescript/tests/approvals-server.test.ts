// What a run asks about before it goes on, with a server: connections that break, keys, and HTTP.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type ApprovalRequest, Isolith, RequestError } from "isolith";
import { Cutter } from "./support/cutter.js";
import { outcome, ScriptedServer } from "./support/scripted.js";
import { Server } from "./support/server.js";

let server: Server;
before(async () => {
  server = await Server.start();
});
after(() => server?.[Symbol.asyncDispose]());

const reconnect = { attempts: 20, firstDelayMs: 10, longestDelayMs: 200 };
const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));
const grants = ["ask tool:mail"];
const tools = { mail: (args: unknown) => args };

test("questions and decisions outlast connections, and none is put twice", async () => {
  await using cutter = await Cutter.before(server.port);
  await using isolith = new Isolith({ url: cutter.url, reconnect });
  const asked: number[] = [];
  const put = "for (let i = 0; i < 6; i++) await Promise.all([kv.put('even', 2 * i), kv.put('odd', 2 * i + 1)]); return 'put'";
  const { value } = await isolith.run(put, {
    grants: ["ask kv:sdk_cut"],
    approve: async ({ call }) => {
      asked.push(call);
      if (call % 3 === 0) cutter.cut();
      await pause(call % 5);
      if (call % 4 === 0) setTimeout(() => cutter.cut(), 1);
      return true;
    },
  });
  assert.equal(value, "put");
  assert.deepEqual(
    asked,
    Array.from({ length: 12 }, (_, i) => i),
  );
  assert.ok(cutter.connections > 3);
});

test("a decision that may have been lost is sent again, and the function is not asked again", async () => {
  const decisions: unknown[] = [];
  await using scripted = await ScriptedServer.start((peer, index) => {
    peer.say({ type: "hello", version: "test" });
    peer.onText = (message) => {
      const { type, run } = message;
      const approval = { id: 4, grant: "ask tool:mail", what: "the tool `mail`", args: 1, asked_us: 1, expires_us: 2 };
      if (type === "run" || type === "attach") peer.say({ type: "approval", run, approval });
      if (type !== "approve") return;
      decisions.push({ ...message, run: "r" });
      if (index === 0) return peer.cut();
      // Someone elsewhere was faster, which harms nobody.
      for (const code of ["approval.answered", "approval.expired", "approval.unknown"]) {
        peer.say({ type: "error", run, error: { code, message: "late" } });
      }
      peer.say({ type: "outcome", run, outcome: outcome("done") });
    };
  });
  await using isolith = new Isolith({ url: scripted.url, reconnect });
  let asked = 0;
  const approve = () => {
    asked++;
    return { decision: "approve", args: 2 } as const;
  };
  assert.equal((await isolith.run("x", { approve })).value, "done");
  assert.equal(asked, 1);
  const decision = { type: "approve", run: "r", call: 4, decision: "approve", args: 2 };
  assert.deepEqual(decisions, [decision, decision]);
});

test("a question that comes again while it is thought about is not put again", async () => {
  let decide: () => void = () => {};
  const told = new Promise<void>((resolve) => {
    decide = resolve;
  });
  const decisions: unknown[] = [];
  await using scripted = await ScriptedServer.start((peer, index) => {
    peer.say({ type: "hello", version: "test" });
    peer.onText = (message) => {
      const { type, run } = message;
      const approval = { id: 0, grant: "ask tool:mail", what: "the tool `mail`", args: 1, asked_us: 1, expires_us: 2 };
      if (type === "run" || type === "attach") peer.say({ type: "approval", run, approval });
      // Its answer comes after the question, so that the question has arrived.
      if (type === "attach") peer.say({ type: "call", run, call: 1, name: "told" });
      if (type === "reply") decide();
      if (type !== "approve") return;
      decisions.push([index, message.decision]);
      peer.say({ type: "outcome", run, outcome: outcome("done") });
    };
  });
  await using isolith = new Isolith({ url: scripted.url, reconnect });
  let asked = 0;
  const approve = async () => {
    asked++;
    scripted.peers[0]?.cut();
    await told;
    return true;
  };
  assert.equal((await isolith.run("x", { approve, tools: { told: () => 1 } })).value, "done");
  assert.equal(asked, 1);
  assert.deepEqual(decisions, [[1, "approve"]]);
});

test("a question survives a restart of the server", async () => {
  await using own = await Server.start();
  await using isolith = new Isolith({ url: own.url, reconnect: { attempts: 60, firstDelayMs: 50, longestDelayMs: 200 } });
  let asked = 0;
  const { value } = await isolith.run("const before = 20; return before + await tools.mail(22)", {
    grants,
    tools,
    approve: async () => {
      asked++;
      await pause(1000);
      await own.kill();
      await own.startAgain();
      return true;
    },
  });
  assert.equal(value, 42);
  assert.equal(asked, 1);
});

test("a run that asks is seen over HTTP, and taken up by another client", async () => {
  await using cutter = await Cutter.before(server.port);
  const first = new Isolith({ url: cutter.url, reconnect: { attempts: 0 } });
  const run = `asked-${process.pid}`;
  await new Promise<void>((asked) => {
    const approve = () => {
      asked();
      return new Promise<never>(() => {});
    };
    first.run("return tools.mail({ to: 'ada' })", { run, grants, tools, approve }).catch(() => {});
  });
  cutter.down = true;
  cutter.cut();
  await using second = new Isolith({ url: server.url });
  let state = await second.runs.get(run);
  for (let tries = 0; state.status !== "suspended" && tries < 100; tries++) {
    await pause(20);
    state = await second.runs.get(run);
  }
  assert.ok(state.status === "suspended", state.status);
  const [approval] = state.approvals ?? [];
  const { asked_us = 0, expires_us = 0, ...rest } = approval ?? {};
  assert.deepEqual(rest, { id: 0, grant: "ask tool:mail", what: "the tool `mail`", args: { to: "ada" } });
  assert.ok(asked_us < expires_us);
  const asked: ApprovalRequest[] = [];
  const approve = (request: ApprovalRequest) => {
    asked.push(request);
    return { decision: "approve", args: { to: "grace" } } as const;
  };
  assert.deepEqual((await second.attach(run, { tools, approve })).value, { to: "grace" });
  assert.deepEqual(asked, [{ run, call: 0, grant: "ask tool:mail", what: "the tool `mail`", args: { to: "ada" } }]);
});

test("a key has to be for approvals, and a run that it cannot help is stopped", async () => {
  await using own = await Server.start();
  const weak = own.createKey("weak");
  const strong = own.createKey("strong", "runs,approvals");
  await own.kill();
  await own.startAgain();
  await using isolith = new Isolith({ url: own.url, key: weak });
  for (const [run, options] of Object.entries({ function: { approve: () => true }, nobody: {} })) {
    await assert.rejects(isolith.run("return tools.mail(1)", { run, grants, tools, ...options }), (error) => {
      assert.ok(error instanceof RequestError);
      assert.deepEqual([error.code, /`approvals`/.test(error.message)], ["key.scope", true]);
      assert.match(error.hint ?? "", /--scope runs,approvals/);
      return true;
    });
    let ended = await isolith.runs.get(run);
    for (let tries = 0; ended.status !== "error" && tries < 100; tries++) {
      await pause(20);
      ended = await isolith.runs.get(run);
    }
    assert.deepEqual([ended.status, ended.status === "error" && ended.error.kind], ["error", "cancelled"]);
  }
  await using agreeing = new Isolith({ url: own.url, key: strong, approve: () => true });
  assert.equal((await agreeing.run("return tools.mail(1)", { grants, tools })).value, 1);
  await assert.rejects(isolith.approvals.list(), { code: "key.scope" });
  await assert.rejects(isolith.approvals.approve("function", 0), { code: "key.scope" });
  // Where others decide, the key needs no more than before.
  const elsewhere = isolith.stream("return tools.mail(1)", { grants, tools, approve: "elsewhere" });
  for await (const event of elsewhere) if (event.type === "approval") break;
  assert.equal((await elsewhere.outcome).error?.kind, "cancelled");
});

/** What waits for a word in a run, once something does. */
async function asked(isolith: Isolith, run: string) {
  for (let tries = 0; tries < 200; tries++) {
    const own = (await isolith.approvals.list()).filter((one) => one.run === run);
    if (own.length > 0) return own;
    await pause(20);
  }
  return assert.fail("nothing is asked");
}

test("questions are listed and answered by whoever looks at them", async () => {
  await using isolith = new Isolith({ url: server.url });
  const program = "try { return await tools.mail({ to: 'ada' }) } catch (error) { return error.message }";
  const start = (run: string) => isolith.run(program, { run, grants, tools, approve: "elsewhere" });
  const [other, once, no] = [start("list-args"), start("list-once"), start("list-no")];
  const open = await asked(isolith, "list-args");
  assert.deepEqual(
    open.map(({ asked_us: _, expires_us: __, ...rest }) => rest),
    [{ run: "list-args", id: 0, grant: "ask tool:mail", what: "the tool `mail`", args: { to: "ada" } }],
  );
  await isolith.approvals.approve("list-args", 0, { args: { to: "grace" } });
  await asked(isolith, "list-once");
  await isolith.approvals.approve("list-once", 0, { consent: "run", wait: "10s" });
  await asked(isolith, "list-no");
  await isolith.approvals.deny("list-no", 0, { reason: "not today" });
  assert.deepEqual((await other).value, { to: "grace" });
  assert.deepEqual((await once).value, { to: "ada" });
  assert.match(String((await no).value), /not today/);
  assert.deepEqual(await isolith.approvals.list(), []);
});

test("an answer that is none is refused, and agrees to nothing", async () => {
  await using isolith = new Isolith({ url: server.url });
  const handle = isolith.start("return await tools.mail(1)", { run: "list-bad", grants, tools, approve: "elsewhere" });
  await asked(isolith, "list-bad");
  const codes: unknown[] = [];
  const refused = (answer: Promise<unknown>) => assert.rejects(answer, (error: RequestError) => codes.push(error.code) > 0);
  await refused(isolith.approvals.approve("list-bad", 0, { args: () => 1 }));
  await refused(isolith.approvals.approve("list-bad", 0, { args: 2, consent: "run" }));
  await refused(isolith.approvals.approve("list-bad", 7));
  await refused(isolith.approvals.deny("nothing", 0));
  assert.deepEqual(codes, ["approval.args", "request.invalid", "approval.unknown", "run.unknown"]);
  assert.equal((await asked(isolith, "list-bad")).length, 1);
  handle.cancel();
  assert.equal((await handle.outcome).error?.kind, "cancelled");
});

test("a tool of ours that was agreed to and takes longer than a run is held is called once", async () => {
  await using isolith = new Isolith({ url: server.url });
  let calls = 0;
  const slow = async (args: unknown) => {
    calls++;
    // Several times what a server holds a run for that waits.
    await pause(600);
    return args;
  };
  for (const approve of [() => true, "elsewhere"] as const) {
    const run = `slow-${typeof approve}`;
    const outcome = isolith.run("return await tools.mail(21)", { run, grants, tools: { mail: slow }, approve });
    if (approve === "elsewhere") {
      await asked(isolith, run);
      await isolith.approvals.approve(run, 0);
    }
    assert.equal((await outcome).value, 21);
  }
  assert.equal(calls, 2);
});
