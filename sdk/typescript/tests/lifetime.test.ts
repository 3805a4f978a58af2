// The daemon lives as long as its process needs it, and no longer.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { isAlive, NamedDaemon } from "./support/binary.js";

const root = fileURLToPath(new URL("../..", import.meta.url));

function start(program: string, daemon: NamedDaemon) {
  const env = { ...process.env, ISOLITH_BINARY: daemon.binary };
  return spawn(process.execPath, ["--input-type=module", "--eval", program], { cwd: root, env, stdio: ["ignore", "pipe", "inherit"] });
}

async function gone(pid: number): Promise<boolean> {
  for (let tries = 0; tries < 400; tries++) {
    if (!isAlive(pid)) return true;
    await sleep(25);
  }
  return false;
}

const IDLE = `
import { Isolith } from "isolith";
const isolith = new Isolith();
console.log((await isolith.run("return 1 + 1")).value);
`;

test("an idle daemon does not keep its process alive, and ends with it", async () => {
  using daemon = new NamedDaemon();
  const child = start(IDLE, daemon);
  let output = "";
  child.stdout.on("data", (text) => {
    output += text;
  });
  const [code] = await once(child, "exit");
  assert.deepEqual([code, output], [0, "2\n"]);
  assert.ok(await gone(daemon.pid()));
});

test("a run keeps its process alive", async () => {
  using daemon = new NamedDaemon();
  const child = start(IDLE.replace("return 1 + 1", "await new Promise((r) => setTimeout(r, 200)); return 2"), daemon);
  let output = "";
  child.stdout.on("data", (text) => {
    output += text;
  });
  await once(child, "exit");
  assert.equal(output, "2\n");
});

test("process.exit ends the daemon", async () => {
  using daemon = new NamedDaemon();
  const child = start(`${IDLE}\nisolith.run("for (;;) {}"); setTimeout(() => process.exit(3), 50);`, daemon);
  const [code] = await once(child, "exit");
  assert.equal(code, 3);
  assert.ok(await gone(daemon.pid()));
});

test("a daemon ends when its process is killed, even in the middle of a run", async () => {
  using daemon = new NamedDaemon();
  const child = start(`${IDLE}\nawait isolith.run("for (;;) {}");`, daemon);
  await once(child.stdout, "data");
  child.kill("SIGKILL");
  await once(child, "exit");
  assert.ok(await gone(daemon.pid()));
});
