// The tool, under the real AI SDK.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { generateText, stepCountIs, tool } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { Isolith } from "isolith";
import { codeTool } from "isolith/ai";
import { z } from "zod";
import { binary } from "./support/binary.js";

const client = new Isolith({ binary: binary() });
after(() => client.close());

const weather = tool({
  description: "The weather of a city",
  inputSchema: z.object({ city: z.string(), unit: z.enum(["C", "F"]).optional() }),
  execute: async ({ city }) => ({ degrees: city.length }),
});

test("a model is shown the types of what its code can call", () => {
  const { description } = codeTool({ client, tools: { weather } });
  assert.match(
    description,
    /\/\*\* The weather of a city \*\/\ndeclare function external_weather\(args: \{ city: string; unit\?: "C" \| "F" \}\)/,
  );
});

test("code calls the tools, whose input is checked", async () => {
  const code = codeTool({ client, tools: { weather } });
  const result = await code.execute({ code: "console.log('x'); return (await external_weather({ city: 'Oslo' })).degrees" });
  assert.deepEqual(result, { ok: true, value: 4, logs: ["x"] });
  const wrong = await code.execute({ code: "return external_weather({ city: 1 })" });
  assert.equal(wrong.ok, false);
  assert.match(wrong.error?.message ?? "", /invalid input for `weather`: city/);
  const failed = await code.execute({ code: "const x = 1;\nfetch('https://example.com')" });
  assert.deepEqual([failed.error?.name, failed.error?.line], ["ReferenceError", 2]);
});

test("generateText runs it", async () => {
  const usage = { inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 }, outputTokens: { total: 1, text: 1, reasoning: 0 } };
  const prompts: unknown[] = [];
  let step = 0;
  const model = new MockLanguageModelV3({
    doGenerate: async (options) => {
      prompts.push(options);
      if (step++ === 0) {
        const input = JSON.stringify({ code: "return (await external_weather({ city: 'Lisbon' })).degrees * 2" });
        return {
          content: [{ type: "tool-call", toolCallId: "1", toolName: "code", input }],
          finishReason: { unified: "tool-calls", raw: undefined },
          usage,
          warnings: [],
        };
      }
      return { content: [{ type: "text", text: "done" }], finishReason: { unified: "stop", raw: undefined }, usage, warnings: [] };
    },
  });
  // With and without `tool()`: the types fit both ways.
  const { steps } = await generateText({
    model,
    prompt: "how warm is it?",
    tools: { code: codeTool({ client, tools: { weather } }), same: tool(codeTool({ client })) },
    stopWhen: stepCountIs(3),
  });
  assert.deepEqual(steps[0]?.toolResults[0]?.output, { ok: true, value: 12 });
  const shown = JSON.stringify((prompts[0] as { tools: unknown[] }).tools[0]);
  assert.match(shown, /"required":\["code"\]/);
});

test("a tool that code cannot call is refused when the tool is made", () => {
  assert.throws(() => codeTool({ tools: { a: { description: "" } } }), /no `execute`/);
  assert.throws(() => codeTool({ tools: { a: { execute: () => 1, needsApproval: true } } }), /needs approval/);
});

test("the model's request can be aborted", async () => {
  const code = codeTool({ client });
  await assert.rejects(code.execute({ code: "for (;;) {}" }, { abortSignal: AbortSignal.timeout(50) }), { name: "AbortError" });
});
