import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Isolith } from "isolith";
import { type CodeInterpreter, type CodeOutput, IsolithInterpreter } from "isolith/interpreter";
import { binary } from "./support/binary.js";

const client = new Isolith({ binary: binary() });
after(() => client.close());
const interpreter: CodeInterpreter = new IsolithInterpreter({ client });

const shown = (outputs: readonly CodeOutput[]) =>
  outputs.map((output) => (output.type === "result" ? output : { type: output.type, text: new TextDecoder().decode(output.data) }));

test("it is stateless, and says so by what it lacks", () => {
  assert.equal(interpreter.isStateful, false);
  assert.ok(interpreter.languages.includes("javascript"));
  for (const method of ["createContext", "runInContext", "deleteContext"]) assert.equal((interpreter as never)[method], undefined);
});

test("output and result come in order, and as they are made", async () => {
  const live: CodeOutput[] = [];
  const code = "console.log('out'); console.warn('err'); return { a: 1 }";
  const result = await interpreter.runCode("javascript", code, {
    onOutput: async (chunk) => {
      await new Promise((done) => setTimeout(done, 5));
      live.push(chunk);
    },
  });
  assert.equal(result.exitCode, 0);
  assert.equal(result.error, undefined);
  assert.deepEqual(shown(result.outputs), [
    { type: "stdout", text: "out\n" },
    { type: "stderr", text: "err\n" },
    { type: "result", value: { a: 1 } },
  ]);
  assert.deepEqual(shown(live), shown(result.outputs));
});

test("another language is a result with an error, not an exception", async () => {
  const result = await interpreter.runCode("python", "print(1)");
  assert.equal(result.exitCode, 1);
  assert.match(result.error ?? "", /language 'python' is not supported \(the script runner is JavaScript-only; use workspace_run_code/);
});

test("failures have an exit code, a text, and what was written before", async () => {
  const thrown = await interpreter.runCode("javascript", "console.log('a'); throw new TypeError('no')");
  assert.equal(thrown.exitCode, 1);
  assert.match(thrown.error ?? "", /^TypeError: no \(line 1/);
  assert.equal(thrown.outputs.length, 1);
  assert.match((await interpreter.runCode("javascript", "let x = ;")).error ?? "", /SyntaxError/);
  assert.match((await interpreter.runCode("javascript", "fetch('https://example.com')")).error ?? "", /fetch is not defined/);
});

test("a call's time limit wins over the interpreter's", async () => {
  const slow = new IsolithInterpreter({ client, maxDurationMs: 60_000 });
  const result = await slow.runCode("javascript", "await new Promise((r) => setTimeout(r, 50_000))", { timeoutMs: 50 });
  assert.equal(result.exitCode, 1);
  const aborted = await slow.runCode("javascript", "for (;;) {}", { signal: AbortSignal.timeout(50) });
  assert.equal(aborted.error, "the run was aborted");
});

test("the network can be allowed", async () => {
  const open = new IsolithInterpreter({ client, network: "allow" });
  assert.deepEqual(shown((await open.runCode("javascript", "return typeof fetch")).outputs), [{ type: "result", value: "function" }]);
});
