// A session over MCP: programs run in it, and its workspace is a set of tools for a client that was given one.
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { Client as Modern, StreamableHTTPClientTransport as ModernHttp } from "@modelcontextprotocol/client";
import { StdioClientTransport as ModernStdio } from "@modelcontextprotocol/client/stdio";
import { Client as Older } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OlderStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { binary, folder, serve } from "./server.mjs";

const place = folder();
const name = { name: "test", version: "1" };
const today = { versionNegotiation: { mode: { pin: "2026-07-28" } } };
place.isolith("session", "create", "notes");
const server = await serve(place);
const stdio = { command: binary, args: ["mcp", "--session", "notes"], env: place.env, cwd: place.path };
const given = new URL("?session=notes", server.url);
const ways = {
  "today's protocol over pipes": () => [new Modern(name, today), new ModernStdio(stdio)],
  "the one before over pipes": () => [new Older(name), new OlderStdio(stdio)],
  "today's protocol over HTTP": () => [new Modern(name, today), new ModernHttp(given)],
};
after(() => {
  server.stop("SIGKILL");
  place[Symbol.dispose]();
});

for (const [way, open] of Object.entries(ways)) {
  describe(way, () => {
    test("the workspace is a set of tools, and programs find its files", async () => {
      const [client, transport] = open();
      await client.connect(transport);
      const call = async (tool, args) => await client.callTool({ name: tool, arguments: args });
      const names = (await client.listTools()).tools.map((tool) => tool.name);
      for (const tool of ["workspace_read_file", "workspace_write_file", "workspace_edit_file", "workspace_ls", "workspace_glob", "workspace_grep", "workspace_run_file"]) {
        assert.ok(names.includes(tool), `${tool} in ${names}`);
      }
      await call("workspace_write_file", { path: "src/a.ts", content: "return 6 * 7 // one" });
      await call("workspace_edit_file", { path: "src/a.ts", old: "// one", new: "// two" });
      assert.equal((await call("workspace_read_file", { path: "src/a.ts" })).content[0].text, "return 6 * 7 // two");
      assert.deepEqual((await call("workspace_glob", { pattern: "**/*.ts" })).structuredContent.paths, ["src/a.ts"]);
      const [match] = (await call("workspace_grep", { pattern: "two$" })).structuredContent.matches;
      assert.deepEqual([match.path, match.line], ["src/a.ts", 1]);
      assert.equal((await call("workspace_run_file", { path: "src/a.ts" })).structuredContent.value, 42);
      const program = "await files.write('b.txt', 'b'); return (await files.list('.')).map((entry) => entry.name)";
      assert.deepEqual((await call("execute", { program })).structuredContent.value, ["b.txt", "src"]);
      await call("workspace_rm", { path: "b.txt" });
      const outside = await call("workspace_read_file", { path: "../../etc/passwd" });
      assert.equal(outside.isError, true);
      assert.match(outside.content[0].text, /leads out/);
      const twice = await call("workspace_edit_file", { path: "src/a.ts", old: "", new: "x" });
      assert.equal(twice.isError, true);
      const unknown = await call("workspace_ls", { folder: "src" });
      assert.equal(unknown.isError, true);
      await client.close();
    });
  });
}

test("a client without a session has none of it, and names one where it wants to", async () => {
  const client = new Modern(name, today);
  await client.connect(new ModernHttp(server.url));
  const names = (await client.listTools()).tools.map((tool) => tool.name);
  assert.ok(!names.some((tool) => tool.startsWith("workspace_") && tool !== "workspace_script"), names.join());
  const program = "return await files.readText('src/a.ts')";
  const within = await client.callTool({ name: "execute", arguments: { program, session: "notes" } });
  assert.match(within.structuredContent.value, /two/);
  const without = await client.callTool({ name: "execute", arguments: { program: "return typeof files" } });
  assert.equal(without.structuredContent.value, "undefined");
  const nobody = await client.callTool({ name: "execute", arguments: { program, session: "nobody" } });
  assert.equal(nobody.isError, true);
  const tool = await client.callTool({ name: "workspace_ls", arguments: {} });
  assert.equal(tool.isError, true, "no session was given");
  await client.close();
});
