// Real servers for the tests, each with a folder of its own.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

export const binary = process.env.ISOLITH_BINARY;

export function folder() {
  const path = mkdtempSync(join(tmpdir(), "isolith-mcp-"));
  const env = { ...process.env, ISOLITH_DATA: join(path, "data") };
  return {
    path,
    env,
    write: (name, text) => writeFileSync(join(path, name), text),
    isolith: (...args) => execFileSync(binary, args, { env, cwd: path, encoding: "utf8" }).trim(),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}

/** `isolith serve`, once it listens. */
export async function serve(place, ...args) {
  const child = spawn(binary, ["serve", "--listen", "127.0.0.1:0", ...args], { env: place.env, cwd: place.path, stdio: ["ignore", "ignore", "pipe"] });
  for await (const line of createInterface(child.stderr)) {
    const url = /listening on (\S+)/.exec(line)?.[1];
    if (url !== undefined) return { url: new URL("/mcp", url), stop: (signal) => child.kill(signal) };
  }
  throw new Error("it does not listen");
}
