// What is published, and where it runs.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { binary } from "./support/binary.js";
import { Server } from "./support/server.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "isolith-sdk-"));
let server: Server;

before(async () => {
  server = await Server.start();
  const packed = execFileSync("npm", ["pack", "--silent", "--pack-destination", folder], { cwd: root, encoding: "utf8" }).trim();
  execFileSync("tar", ["xzf", join(folder, packed), "-C", folder]);
  writeFileSync(join(folder, "use.mjs"), USE);
});
after(async () => {
  rmSync(folder, { recursive: true, force: true });
  await server?.[Symbol.asyncDispose]();
});

const USE = `
import { Isolith } from "./package/dist/index.js";
import { createIsolithDriver } from "./package/dist/tanstack.js";
import { IsolithExecutor } from "./package/dist/cloudflare.js";
import { IsolithInterpreter } from "./package/dist/interpreter.js";
import { codeTool } from "./package/dist/ai.js";
import process from "node:process";

const seen = [];
for (const options of [{}, { url: process.env.ISOLITH_URL }]) {
  const isolith = new Isolith(options);
  const tools = { add: async ([a, b]) => a + b };
  const runs = Array.from({ length: 20 }, (_, i) => isolith.run("console.log('é'); return tools.add([input, 1])", { input: i, tools }));
  seen.push((await Promise.all(runs)).map((outcome) => outcome.value).join());
  const large = await isolith.run("return tools.echo(input)", { input: "é".repeat(300000), tools: { echo: (text) => text } });
  seen.push(large.value.length);
  const context = await createIsolithDriver({ client: isolith }).createContext({ bindings: {} });
  seen.push((await context.execute("console.warn(1); return 2")).logs[0]);
  seen.push((await new IsolithExecutor({ client: isolith }).execute("async () => 3", [])).result);
  seen.push((await new IsolithInterpreter({ client: isolith }).runCode("javascript", "return 4")).exitCode);
  seen.push((await codeTool({ client: isolith }).execute({ code: "return 5" })).value);
}
// Nothing is closed: neither a daemon nor a connection keeps a process alive.
console.log(JSON.stringify(seen));
`;

function check(command: string, args: string[]): void {
  const env = { ...process.env, ISOLITH_BINARY: binary(), ISOLITH_URL: server.url, DENO_NO_UPDATE_CHECK: "1" };
  const { stdout, stderr, status } = spawnSync(command, [...args, "use.mjs"], { cwd: folder, env, encoding: "utf8", timeout: 120_000 });
  assert.equal(status, 0, `${command}: ${stderr}`);
  const numbers = Array.from({ length: 20 }, (_, i) => i + 1).join();
  const each = [numbers, 300000, "WARN: 1", 3, 0, 5];
  assert.deepEqual(JSON.parse(stdout), [...each, ...each]);
}

function installed(scope: string, path: string): string {
  const modules = join(root, "node_modules", scope);
  const [name] = readdirSync(modules);
  return join(modules, name as string, path);
}

test("the package has what it exports and its licences, and no more", () => {
  const list = (path: string): string[] =>
    readdirSync(join(folder, path), { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? list(`${path}/${entry.name}`) : [`${path}/${entry.name}`],
    );
  const files = list("package");
  const { exports, dependencies } = JSON.parse(readFileSync(join(folder, "package/package.json"), "utf8"));
  assert.equal(dependencies, undefined);
  for (const entry of Object.values(exports as Record<string, string | { types: string; default: string }>)) {
    const paths = typeof entry === "string" ? [entry] : [entry.types, entry.default];
    for (const path of paths) assert.ok(files.includes(path.replace("./", "package/")), path);
  }
  const others = files.filter((file) => !/^package\/dist\/.*\.(js|d\.ts)$/.test(file)).sort();
  assert.deepEqual(others, ["package/LICENSE-APACHE", "package/LICENSE-MIT", "package/README.md", "package/package.json"]);
});

test("it runs on this Node", () => check(process.execPath, []));
test("it runs on Bun", () => check(installed("@oven", "bin/bun"), ["run"]));
test("it runs on Deno", () => check(installed("@deno", "deno"), ["run", "--allow-all", "--no-config"]));
