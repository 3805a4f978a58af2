// Code mode over another MCP server: found by words, told in TypeScript, called in a program.
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { Client as Modern } from "@modelcontextprotocol/client";
import { StdioClientTransport as ModernStdio } from "@modelcontextprotocol/client/stdio";
import { Client as Older } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OlderStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { binary, folder } from "./server.mjs";

const place = folder();
place.write("servers.json", JSON.stringify({ mcpServers: { sums: { command: "python3", args: [`${process.cwd()}/upstream.py`] } } }));
const stdio = { command: binary, args: ["mcp", "--mcp-servers", "servers.json"], env: place.env, cwd: place.path };
const name = { name: "test", version: "1" };
const ways = {
  "today's protocol": () => [new Modern(name, { versionNegotiation: { mode: { pin: "2026-07-28" } } }), new ModernStdio(stdio)],
  "the one before": () => [new Older(name), new OlderStdio(stdio)],
};
after(() => place[Symbol.dispose]());

for (const [way, open] of Object.entries(ways)) {
  describe(way, () => {
    test("tools are found, described and called in one program", async () => {
      const [client, transport] = open();
      await client.connect(transport);
      const { tools } = await client.listTools();
      assert.deepEqual(tools.map((tool) => tool.name), ["execute", "search", "describe", "resume", "workspace_script"]);
      assert.ok(JSON.stringify(tools).length / 4 < 1500, `${JSON.stringify(tools).length / 4} tokens`);
      const found = await client.callTool({ name: "search", arguments: { query: "adds two numbers", limit: 1 } });
      assert.deepEqual(found.structuredContent.tools.map((tool) => tool.path), ["sums.add"]);
      const described = await client.callTool({ name: "describe", arguments: { path: "sums.add" } });
      assert.match(described.content[0].text, /add\(args: { a: number; b: number }\): Promise<{ sum: number }>/);
      const wrong = await client.callTool({ name: "describe", arguments: { path: "sums.adds" } });
      assert.equal(wrong.isError, true);
      assert.match(wrong.content[0].text, /did you mean `sums\.add`/);
      const program = "return (await Promise.all([1, 2].map((n) => tools.sums.add({ a: n, b: n })))).map((one) => one.sum)";
      const done = await client.callTool({ name: "execute", arguments: { program } });
      assert.deepEqual(done.structuredContent.value, [2, 4], JSON.stringify(done));
      await client.close();
    });
  });
}

test("types are checked before a program runs, where that is asked for", async () => {
  const client = new Modern(name, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
  const env = { ...place.env, ISOLITH_TYPESCRIPT: `${process.cwd()}/types` };
  await client.connect(new ModernStdio({ ...stdio, env, args: [...stdio.args, "--type-check"] }));
  const run = (program) => client.callTool({ name: "execute", arguments: { program } });
  const wrong = await run("console.log('on');\nreturn (await tools.sums.add({ a: 1, b: '2' })).total");
  assert.equal(wrong.isError, true);
  const { code, line, message } = wrong.structuredContent.error;
  assert.deepEqual([code, line], ["types", 2]);
  assert.match(message, /line 2, column \d+: Type 'string' is not assignable to type 'number'\. \(TS2322\)\nline 2, column \d+: Property 'total' does not exist/);
  // It was not run at all.
  assert.equal(wrong.structuredContent.logs, undefined);
  const right = await run("const { sum } = await tools.sums.add({ a: 1, b: 2 });\nreturn sum");
  assert.equal(right.structuredContent.value, 3, JSON.stringify(right));
  await client.close();
});
