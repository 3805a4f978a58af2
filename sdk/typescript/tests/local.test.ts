// The local daemon: a child that speaks JSON lines.
import assert from "node:assert/strict";
import process from "node:process";
import { after, test } from "node:test";
import { AbortError, ClosedError, ConnectionError, Isolith, RequestError, type RunEvent } from "isolith";
import { binary, NamedDaemon } from "./support/binary.js";

const isolith = new Isolith({ binary: binary() });
after(() => isolith.close());

test("a program gives its value", async () => {
  const outcome = await isolith.run<number[]>("return [1, 2, 3].map((n: number) => n * 2)");
  assert.equal(outcome.status, "ok");
  assert.deepEqual(outcome.value, [2, 4, 6]);
  assert.ok(outcome.usage.wall_us > 0);
  assert.deepEqual(outcome.outputs, []);
});

test("input, args, a seed and a name arrive", async () => {
  const options = { input: { a: 1 }, args: { b: 2 }, seed: 7, name: "sum.ts" } as const;
  const program = "console.log(Math.random()); return input.a + b";
  const [first, second] = await Promise.all([isolith.run(program, options), isolith.run(program, options)]);
  assert.equal(first.value, 3);
  assert.equal(first.outputs[0]?.text, second.outputs[0]?.text);
  const failed = await isolith.run("\n  nope()", { name: "sum.ts" });
  assert.match(failed.error?.stack ?? "", /sum\.ts:2/);
});

test("a program that fails is an outcome", async () => {
  const rows: [string, object, string, string][] = [
    ["throw new RangeError('no')", {}, "thrown", "RangeError"],
    ["let x = ;", {}, "syntax", "SyntaxError"],
    ["for (;;) {}", { limits: { cpu: "50ms" } }, "cpu_limit", "CpuLimit"],
    ["await new Promise((r) => setTimeout(r, 60_000))", { limits: { timeout: "100ms" } }, "timeout", "Timeout"],
    ["const all = []; for (;;) all.push('x'.repeat(1e6))", { limits: { memory: "16MiB" } }, "memory_limit", "MemoryLimit"],
    ["const f = () => f() + 1; f()", {}, "stack_overflow", "RangeError"],
    ["await new Promise(() => {})", {}, "stalled", "Stalled"],
  ];
  for (const [program, options, kind, name] of rows) {
    const { status, error } = await isolith.run(program, options);
    assert.deepEqual([status, error?.kind, error?.name], ["error", kind, name], program);
  }
});

test("nothing is there that was not granted", async () => {
  const { value } = await isolith.run("return [typeof fetch, typeof kv, typeof process, Object.keys(tools)]");
  assert.deepEqual(value, ["undefined", "undefined", "undefined", []]);
  const granted = await isolith.run("await kv.put('a', 1); return kv.get('a')", { grants: ["kv:sdk_test"] });
  assert.equal(granted.value, 1, JSON.stringify(granted.error));
});

test("tools are called with what the program gives, and answer with what it gets", async () => {
  const { value } = await isolith.run("return [await tools.add([1, 2]), await external_add([3, 4]), await tools.nothing()]", {
    tools: {
      add: ([a, b]: [number, number]) => a + b,
      nothing: (args: unknown) => {
        assert.equal(args, undefined);
      },
    },
  });
  assert.deepEqual(value, [3, 7, null]);
});

test("tools run side by side", async () => {
  let waiting: (() => void)[] = [];
  // Nobody is answered before all have asked.
  const together = (n: number) =>
    new Promise((done) => {
      waiting.push(() => done(n * n));
      if (waiting.length < 20) return;
      for (const answer of waiting) answer();
      waiting = [];
    });
  const { value } = await isolith.run("return Promise.all(Array.from({ length: 20 }, (_, i) => tools.together(i)))", {
    tools: { together },
  });
  assert.deepEqual(
    value,
    Array.from({ length: 20 }, (_, i) => i * i),
  );
});

test("what a tool throws can be caught, and so can an answer that is not JSON or too large", async () => {
  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  const small = new Isolith({ binary: binary(), maxAnswerBytes: 1 << 20 });
  const { value } = await small.run<string[][]>(
    `const caught = [];
     for (const name of Object.keys(tools).sort()) {
       try { caught.push([name, await tools[name]()]); } catch (error) { caught.push([name, error.name, error.message]); }
     }
     return caught;`,
    {
      tools: {
        bigint: () => 1n,
        cycle: () => cycle,
        fails: () => {
          throw new TypeError("not today");
        },
        huge: () => "x".repeat(100 << 20),
        long: () => Promise.reject(new Error("e".repeat(1 << 20))),
        odd: () => Promise.reject({ code: 7 }),
        text: () => Promise.reject("plain"),
      },
    },
  );
  await small.close();
  const [bigint, cyclic, fails, huge, long, odd, text] = value as [string[], string[], string[], string[], string[], string[], string[]];
  assert.match(bigint[2] as string, /`bigint` has no JSON form: .*BigInt/);
  assert.match(cyclic[2] as string, /`cycle` has no JSON form: .*circular/i);
  assert.deepEqual(fails.slice(1), ["TypeError", "not today"]);
  assert.match(huge[2] as string, /`huge` is 100\.0 MiB as JSON; at most 1\.0 MiB/);
  assert.match(long[2] as string, /^e{1000}/);
  assert.equal(odd[2], '{"code":7}');
  assert.equal(text[2], "plain");
});

test("schemas of tools are checked", async () => {
  const seen: unknown[] = [];
  const { value } = await isolith.run("try { await tools.square('x') } catch (e) { return [e.code, await tools.square(3)] }", {
    tools: {
      square: {
        description: "Squares a number",
        input: { type: "number" },
        output: { type: "number" },
        execute: (n: number) => {
          seen.push(n);
          return n * n;
        },
      },
    },
  });
  assert.deepEqual(value, ["tool.invalid_input", 9]);
  assert.deepEqual(seen, [3]);
});

test("odd texts survive both ways", async () => {
  const text = "\u2028\u2029\0é😀\\\"'`$\n\r";
  const { value } = await isolith.run("return [input, await tools.echo(input)]", { input: text, tools: { echo: (t: string) => t } });
  assert.deepEqual(value, [text, text]);
  const lone = await isolith.run("try { return (await tools.lone()).length } catch (e) { return e.name }", {
    tools: { lone: () => "a\ud800" },
  });
  assert.equal(lone.status, "ok", JSON.stringify(lone.error));
});

test("a tool that is still running when its run ends is told so, and ignored", async () => {
  let signal: AbortSignal | undefined;
  const { value } = await isolith.run("tools.slow(); await tools.quick(); return 'done'", {
    tools: {
      slow: (_args: unknown, context: { signal: AbortSignal }) => {
        signal = context.signal;
        return new Promise(() => {});
      },
      quick: () => 1,
    },
  });
  assert.equal(value, "done");
  assert.ok(signal?.aborted);
  assert.equal((await isolith.run("return 1")).value, 1);
});

test("output comes while the program runs", async () => {
  const seen: string[] = [];
  const { outputs } = await isolith.run("console.log('before'); await tools.look(); console.error('after')", {
    onOutput: ({ stream, text }) => void seen.push(`${stream} ${text}`),
    tools: { look: () => void seen.push("tool") },
  });
  assert.deepEqual(seen, ["stdout before", "tool", "stderr after"]);
  assert.deepEqual(
    outputs.map(({ text }) => text),
    ["before", "after"],
  );
});

test("a callback that throws stops the run", async () => {
  const failing = isolith.run("console.log(1); for (;;) await tools.wait()", {
    tools: { wait: () => new Promise((done) => setTimeout(done, 5)) },
    onOutput: () => {
      throw new RangeError("mine");
    },
  });
  await assert.rejects(failing, RangeError);
});

test("a stream has output, calls and the outcome, in order", async () => {
  const events: RunEvent[] = [];
  const stream = isolith.stream("console.log('a'); return tools.add([1, 2])", {
    tools: { add: ([a, b]: number[]) => (a ?? 0) + (b ?? 0) },
  });
  for await (const event of stream) events.push(event);
  assert.deepEqual(
    events.map((event) => event.type),
    ["output", "call", "outcome"],
  );
  assert.deepEqual(events[1], { type: "call", call: 0, name: "add", args: [1, 2] });
  assert.equal((await stream.outcome).value, 3);
});

test("leaving a stream early stops its run", async () => {
  const stream = isolith.stream("console.log('a'); await new Promise((r) => setTimeout(r, 60_000))");
  for await (const event of stream) {
    assert.equal(event.type, "output");
    break;
  }
  assert.equal((await stream.outcome).error?.kind, "cancelled");
});

test("a signal stops a run, before or while it runs", async () => {
  const controller = new AbortController();
  const running = isolith.run("await tools.stop(); for (;;) await tools.wait()", {
    signal: controller.signal,
    tools: { stop: () => controller.abort("enough"), wait: () => new Promise((done) => setTimeout(done, 5)) },
  });
  await assert.rejects(running, (error) => error instanceof AbortError && error.cause === "enough" && error.code === "aborted");
  await assert.rejects(isolith.run("1", { signal: controller.signal }), AbortError);
  await assert.rejects(isolith.run("for (;;) {}", { signal: AbortSignal.timeout(50) }), AbortError);
});

test("a run can be stopped right after it was started", async () => {
  const handle = isolith.start("await new Promise((r) => setTimeout(r, 60_000))");
  handle.cancel();
  assert.equal((await handle.outcome).error?.kind, "cancelled");
});

test("a run says what it ran on", async () => {
  const plain = await isolith.run("return 1 + 1", { engine: "auto" });
  assert.deepEqual([plain.value, plain.ran_on?.engine], [2, "quickjs"]);
  const walled = await isolith.run("return 1 + 1", { isolation: "process" });
  assert.equal(walled.value, 2);
  assert.ok(Array.isArray(walled.ran_on?.jail?.missing));
});

test("a request that is wrong is refused, and says where", async () => {
  const wrong: [Parameters<Isolith["run"]>[1], RegExp][] = [
    [{ limits: { memory: "1 elephant" } }, /memory|size/],
    [{ grants: ["nonsense:x"] }, /nonsense/],
    [{ tools: { "not a name": () => 1 } }, /not a name/],
    [{ limits: { memory: "1MiB" } }, /memory/],
    [{ engine: "spidermonkey" as "v8" }, /`quickjs`, `v8` or `auto`/],
    [{ grants: ["builtin:WebAssembly"] }, /engine `quickjs` does not support `WebAssembly`/],
    [{ grants: ["ask builtin:WebAssembly"] }, /no call to ask about/],
  ];
  for (const [options, pattern] of wrong) {
    await assert.rejects(isolith.run("1", options), (error) => {
      assert.ok(error instanceof RequestError, String(error));
      assert.match(error.message, pattern);
      return true;
    });
  }
  await assert.rejects(isolith.run("1", { run: "no spaces please" }), /64 of/);
  await assert.rejects(isolith.run("1", { input: 1n }), { code: "input.not_json" });
  await assert.rejects(isolith.run("1", { input: "x".repeat(25 << 20) }), { code: "request.too_large" });
});

test("a name is used once", async () => {
  const [first, second] = await Promise.allSettled([
    isolith.run("await tools.wait(); return 1", { run: "twice", tools: { wait: () => new Promise((done) => setTimeout(done, 20)) } }),
    isolith.run("return 2", { run: "twice-b" }).then(() => isolith.run("return 2", { run: "twice-b" })),
  ]);
  assert.equal(first.status, "fulfilled");
  assert.equal(second.status, "rejected");
  assert.ok(second.status === "rejected" && second.reason instanceof RequestError);
});

test("five hundred runs at once keep their results and tools apart", async () => {
  const runs = Array.from({ length: 500 }, (_, i) =>
    isolith.run("return (await tools.mine()) + (await tools.mine())", { tools: { mine: async () => i } }),
  );
  const values = (await Promise.all(runs)).map(({ value }) => value);
  assert.deepEqual(
    values,
    Array.from({ length: 500 }, (_, i) => 2 * i),
  );
});

test("large values pass both ways", async () => {
  const text = "0123456789abcdef".repeat(1 << 18);
  const { value } = await isolith.run<string>("return (await tools.echo(input)) + '!'", { input: text, tools: { echo: (t: string) => t } });
  assert.equal(value?.length, text.length + 1);
});

test("a daemon that dies fails its runs, and the next run starts another", async () => {
  using daemon = new NamedDaemon();
  await using own = new Isolith({ binary: daemon.binary });
  assert.equal((await own.run("return 1")).value, 1);
  const die = () => {
    process.kill(daemon.pid(), "SIGKILL");
    return new Promise(() => {});
  };
  const running = own.run("await tools.die()", { tools: { die } });
  await assert.rejects(running, (error) => error instanceof ConnectionError && error.code === "daemon.ended");
  assert.equal((await own.run("return 2")).value, 2);
});

test("a binary that is missing, or is no isolith, is an error that says what to do", async () => {
  await using missing = new Isolith({ binary: "/nowhere/isolith" });
  await assert.rejects(missing.run("1"), (error) => {
    assert.ok(error instanceof ConnectionError);
    assert.equal(error.code, "daemon.missing");
    assert.match(error.hint ?? "", /ISOLITH_BINARY/);
    return true;
  });
  await using other = new Isolith({ binary: "/bin/false" });
  await assert.rejects(other.run("1"), (error) => error instanceof ConnectionError && error.code === "daemon.ended");
});

test("a closed client refuses, and closing twice is fine", async () => {
  const own = new Isolith({ binary: binary() });
  const running = own.run("await new Promise((r) => setTimeout(r, 60_000))");
  const rejected = assert.rejects(running, ClosedError);
  await own.run("return 1");
  await Promise.all([own.close(), own.close()]);
  await rejected;
  await assert.rejects(own.run("1"), ClosedError);
});

test("a local daemon has no HTTP side", () => {
  assert.throws(() => isolith.runs, { code: "http.missing" });
});
