// Every block of the page is compiled by `tests/documents.mjs` and the compiler, and runs here.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { binary } from "./support/binary.js";
import { Server } from "./support/server.js";

const folder = fileURLToPath(new URL("../generated/", import.meta.url));
let server: Server;
before(async () => {
  server = await Server.start();
});
after(() => server?.[Symbol.asyncDispose]());

const blocks = readdirSync(folder).filter((file) => file.endsWith(".js"));
assert.ok(blocks.length >= 10, "the page has blocks");

for (const block of blocks) {
  test(block, () => {
    const env = { ...process.env, ISOLITH_BINARY: binary(), ISOLITH_URL: server.url };
    const ran = spawnSync(process.execPath, [folder + block], { env, encoding: "utf8", timeout: 60_000 });
    assert.equal(ran.status, 0, ran.stderr);
    // A comment after `console.log(…)` says what it prints.
    const promised = [...readFileSync(folder + block, "utf8").matchAll(/console\.log\(.*\); \/\/ (.*)/g)].map(([, text]) => text);
    for (const text of promised) assert.ok(ran.stdout.split("\n").includes(text as string), `${text}\n---\n${ran.stdout}`);
  });
}
