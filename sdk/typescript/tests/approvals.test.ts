// What a run asks about before it goes on, with a local daemon.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { after, test } from "node:test";
import { type ApprovalDecision, type ApprovalRequest, Isolith, type RunEvent, type RunOptions } from "isolith";
import { codeTool } from "isolith/ai";
import { IsolithExecutor } from "isolith/cloudflare";
import { IsolithInterpreter } from "isolith/interpreter";
import { createIsolithDriver } from "isolith/tanstack";
import { binary } from "./support/binary.js";

const folder = mkdtempSync(join(tmpdir(), "isolith-sdk-"));
const env = { ISOLITH_DATA: folder };
const isolith = new Isolith({ binary: binary(), env });
after(async () => {
  await isolith.close();
  rmSync(folder, { recursive: true, force: true });
});

const CAUGHT = "const caught = (promise) => promise.catch(({ name, code, message }) => ({ name, code, message }));";
const grants = ["ask tool:mail"];
const denied = (why: string) => ({
  name: "DeniedError",
  code: "tool.denied",
  message: `the tool \`mail\` has to be agreed to by someone${why} (\`ask tool:mail\`)`,
});

/** A mailbox, and options of a run whose program may fill it if someone agrees. */
function mailbox(approve?: RunOptions["approve"]): { sent: unknown[]; options: RunOptions } {
  const sent: unknown[] = [];
  const mail = (args: unknown) => {
    sent.push(args);
    return "sent";
  };
  return { sent, options: { grants, tools: { mail }, ...(approve === undefined ? {} : { approve }) } };
}

test("a call is made when the function agrees, which is told what there is to know", async () => {
  const agreements: ApprovalDecision[] = ["approve", true, { decision: "approve" }, { decision: "approve", consent: "once" }];
  for (const [index, decision] of agreements.entries()) {
    const asked: ApprovalRequest[] = [];
    const approve = (request: ApprovalRequest) => {
      asked.push(request);
      return index % 2 === 0 ? decision : Promise.resolve(decision);
    };
    const { sent, options } = mailbox(approve);
    const run = `agreed-${index}`;
    const { value } = await isolith.run("return tools.mail({ to: 'ada' })", { ...options, run });
    assert.equal(value, "sent");
    assert.deepEqual(sent, [{ to: "ada" }]);
    assert.deepEqual(asked, [{ run, call: 0, grant: "ask tool:mail", what: "the tool `mail`", args: { to: "ada" } }]);
  }
});

test("a call can be made with other arguments", async () => {
  for (const args of [{ to: "grace" }, [], "text", 0, false, null]) {
    const { sent, options } = mailbox(() => ({ decision: "approve", args }));
    assert.equal((await isolith.run("return tools.mail({ to: 'ada' })", options)).value, "sent");
    assert.deepEqual(sent, [args]);
  }
});

test("a no is an error that the program can catch, with the reason", async () => {
  const rows: [ApprovalDecision, string][] = [
    ["deny", ", and was not"],
    [false, ", and was not"],
    [{ decision: "deny" }, ", and was not"],
    [{ decision: "deny", reason: "not on a Sunday" }, ": not on a Sunday"],
    [{ decision: "deny", reason: "😀".repeat(1_500) }, `: ${"😀".repeat(1_000)}`],
  ];
  for (const [decision, why] of rows) {
    const { sent, options } = mailbox(() => decision);
    const { value } = await isolith.run(`${CAUGHT} return caught(tools.mail())`, options);
    assert.deepEqual(value, denied(why));
    assert.deepEqual(sent, []);
  }
});

test("a function that throws is a no", async () => {
  const throwing: (() => ApprovalDecision | Promise<ApprovalDecision>)[] = [
    () => {
      throw new Error("the \ud800 person left");
    },
    () => Promise.reject(new RangeError("the \ud800 person left")),
  ];
  for (const approve of throwing) {
    const { sent, options } = mailbox(approve);
    const { value } = await isolith.run(`${CAUGHT} return caught(tools.mail())`, options);
    assert.deepEqual(value, denied(": the \ufffd person left"));
    assert.deepEqual(sent, []);
  }
});

test("what is no decision is a no, and never agrees to something else", async () => {
  const circular: Record<string, unknown> = {};
  circular.self = circular;
  const nameless = { decision: "deny", reason: Object.create(null) };
  const rows: [unknown, string][] = [
    [undefined, "it is neither a yes nor a no"],
    ["yes", "it is neither a yes nor a no"],
    [{ decision: "maybe" }, "it is neither a yes nor a no"],
    [{ decision: "approve", consent: "forever" }, "`consent` is `once`, `run` or `always`"],
    [{ decision: "approve", consent: "run", args: {} }, "changed arguments are good for this call only"],
    [{ decision: "approve", args: circular }, "its `args` have no JSON form"],
    [{ decision: "approve", args: () => {} }, "its `args` have no JSON form"],
    [{ decision: "approve", args: "x".repeat(25 << 20) }, "its `args` are too large"],
  ];
  for (const [decision, why] of rows) {
    const { sent, options } = mailbox(() => decision as ApprovalDecision);
    const { value } = await isolith.run(`${CAUGHT} return caught(tools.mail({}))`, options);
    assert.deepEqual(value, denied(`: the decision of \`approve\` cannot be used: ${why}`));
    assert.deepEqual(sent, []);
  }
  const { sent, options } = mailbox(() => nameless as ApprovalDecision);
  assert.equal((await isolith.run(`${CAUGHT} return (await caught(tools.mail({}))).name`, options)).value, "DeniedError");
  assert.deepEqual(sent, []);
  const { value } = await isolith.run<{ message: string }>(`${CAUGHT} return caught(kv.put("a", 1))`, {
    grants: ["ask kv:sdk_approvals"],
    approve: () => ({ decision: "approve", args: {} }),
  });
  assert.match(value?.message ?? "", /put sdk_approvals has no arguments that could be changed/);
});

test("without the option nobody is asked, and the reason says so", async () => {
  const { sent, options } = mailbox();
  const { value } = await isolith.run(`${CAUGHT} return caught(tools.mail())`, options);
  const why =
    ': nobody is there to be asked: the client has no option `approve`; `approve: "elsewhere"` waits for `isolith approvals` or HTTP';
  assert.deepEqual(value, denied(why));
  assert.deepEqual(sent, []);
});

test("a client has a default, and a run its own", async () => {
  await using client = new Isolith({ binary: binary(), env, approve: () => ({ decision: "deny", reason: "the default" }) });
  const program = `${CAUGHT} return caught(tools.mail())`;
  assert.deepEqual((await client.run(program, mailbox().options)).value, denied(": the default"));
  assert.deepEqual((await client.run(program, mailbox(() => true).options)).value, "sent");
});

test("a yes for the run is asked for once", async () => {
  let asked = 0;
  const { sent, options } = mailbox(() => {
    asked++;
    return { decision: "approve", consent: "run" };
  });
  assert.deepEqual((await isolith.run("return [await tools.mail(1), await tools.mail(2)]", options)).value, ["sent", "sent"]);
  assert.deepEqual([asked, sent], [1, [1, 2]]);
  assert.equal((await isolith.run("return tools.mail(3)", options)).value, "sent");
  assert.equal(asked, 2, "another run asks again");
});

test("a yes for always holds for later runs of the same program", async () => {
  let asked = 0;
  const { sent, options } = mailbox(() => {
    asked++;
    return { decision: "approve", consent: "always" };
  });
  for (const n of [1, 2]) await isolith.run("return tools.mail(input)", { ...options, input: n });
  assert.deepEqual([asked, sent], [1, [1, 2]]);
});

test("several are asked side by side", async () => {
  const waiting: (() => void)[] = [];
  const { sent, options } = mailbox(async ({ args }) => {
    // None is answered before all are asked.
    await new Promise<void>((decide) => {
      waiting.push(decide);
      if (waiting.length === 3) for (const one of waiting.reverse()) one();
    });
    return args === 2 ? { decision: "deny", reason: "not two" } : true;
  });
  const { value } = await isolith.run(`${CAUGHT} return Promise.all([1, 2, 3].map((n) => caught(tools.mail(n))))`, options);
  assert.deepEqual(value, ["sent", denied(": not two"), "sent"]);
  assert.deepEqual([...sent].sort(), [1, 3]);
});

test("a stream tells of questions, and the signal of a run that ends first", async () => {
  const { options } = mailbox(() => true);
  const events: RunEvent[] = [];
  for await (const event of isolith.stream("return tools.mail(1)", { ...options, run: "streamed" })) events.push(event);
  assert.deepEqual(events.slice(0, 2), [
    { type: "approval", run: "streamed", call: 0, grant: "ask tool:mail", what: "the tool `mail`", args: 1 },
    { type: "call", call: 0, name: "mail", args: 1 },
  ]);
  assert.equal(events[2]?.type, "outcome");

  let gone: AbortSignal | undefined;
  const undecided = mailbox((_, { signal }) => {
    gone = signal;
    return new Promise(() => {});
  });
  const left = isolith.stream("return tools.mail(1)", undecided.options);
  for await (const event of left) if (event.type === "approval") break;
  assert.equal((await left.outcome).error?.kind, "cancelled");
  assert.equal(gone?.aborted, true);
});

test("what is not a tool of the client can be asked about too", async () => {
  const asked: ApprovalRequest[] = [];
  const { value } = await isolith.run("await kv.put('a', 1); return kv.get('a')", {
    run: "kept",
    grants: ["ask kv:sdk_approvals"],
    approve: (request) => {
      asked.push(request);
      return { decision: "approve", consent: "run" };
    },
  });
  assert.equal(value, 1);
  assert.deepEqual(asked, [{ run: "kept", call: 0, grant: "ask kv:sdk_approvals", what: "put sdk_approvals", args: undefined }]);
});

test("elsewhere waits for whoever answers", async () => {
  for (const [word, value] of [
    [["approve"], "sent"],
    [["deny", "--reason", "from the terminal"], denied(": from the terminal")],
  ] as const) {
    const { options } = mailbox("elsewhere");
    const stream = isolith.stream(`${CAUGHT} return caught(tools.mail(1))`, options);
    for await (const event of stream) {
      if (event.type === "outcome") assert.deepEqual(event.outcome.value, value);
      if (event.type === "approval") answer(word, stream.run);
    }
  }
});

test("someone elsewhere can be faster than the function", async () => {
  let decide: () => void = () => {};
  const late = new Promise<void>((resolve) => {
    decide = resolve;
  });
  const { sent, options } = mailbox(async ({ run, args }) => {
    if (args === 2) return true;
    answer(["approve"], run);
    await late;
    return false;
  });
  const mail = options.tools?.mail as (args: unknown) => string;
  const { value } = await isolith.run("return [await tools.mail(1), await tools.mail(2)]", {
    ...options,
    tools: {
      mail: (args: unknown) => {
        decide();
        return mail(args);
      },
    },
  });
  assert.deepEqual(
    [value, sent],
    [
      ["sent", "sent"],
      [1, 2],
    ],
  );
});

/** Someone at a terminal, who needs a moment until the question is kept. */
function answer([word, ...more]: readonly string[], run: string): void {
  const args = ["approvals", word as string, run, "--all", ...more];
  for (let tries = 0; tries < 100; tries++) {
    const said = spawnSync(binary(), args, { env: { ...process.env, ...env }, encoding: "utf8" });
    if (said.status === 0) return;
    if (tries === 99) throw new Error(`${said.stdout}${said.stderr}`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
  }
}

test("the drivers ask as well", async () => {
  const approve = () => ({ decision: "deny", reason: "by the driver" }) as const;
  const options = { client: isolith, grants: ["ask kv:sdk_approvals"], approve };
  const put = "await kv.put('a', 1)";
  const context = await createIsolithDriver(options).createContext({ bindings: {} });
  assert.match((await context.execute(put)).error?.message ?? "", /by the driver/);
  assert.match((await new IsolithExecutor(options).execute(`async () => { ${put} }`, [])).error ?? "", /by the driver/);
  assert.match((await new IsolithInterpreter(options).runCode("javascript", put)).error ?? "", /by the driver/);
  assert.match((await codeTool(options).execute({ code: put })).error?.message ?? "", /by the driver/);
});

test("a tool of the AI SDK that needs approval is asked about", async () => {
  const mail = { needsApproval: true, execute: ({ to }: { to: string }) => `sent to ${to}` };
  const read = { execute: () => "read" };
  const asked: unknown[] = [];
  const tool = codeTool({
    client: isolith,
    tools: { mail, read },
    approve: ({ args }) => {
      asked.push(args);
      return true;
    },
  });
  const code = "return [await external_read({}), await external_mail({ to: 'ada' })]";
  assert.deepEqual(await tool.execute({ code }), { ok: true, value: ["read", "sent to ada"] });
  assert.deepEqual(asked, [{ to: "ada" }]);
  assert.throws(() => codeTool({ tools: { mail } }), /say with `approve` who gives it/);
  assert.throws(() => codeTool({ tools: { mail: { ...mail, needsApproval: () => true } }, approve: () => true }), /at times/);
});
