import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { binary } from "./binary.js";

/** A real `isolith serve` with a data folder of its own. */
export class Server {
  readonly port: number;
  readonly url: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #folder: string;
  #child: ChildProcess | undefined;

  private constructor(port: number, folder: string) {
    this.port = port;
    this.url = `http://127.0.0.1:${port}`;
    this.#folder = folder;
    this.#env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder, XDG_STATE_HOME: folder };
  }

  static async start(): Promise<Server> {
    const server = new Server(await freePort(), mkdtempSync(join(tmpdir(), "isolith-sdk-")));
    await server.startAgain();
    return server;
  }

  /** A key for the server, which needs one from now on. */
  createKey(name: string, scopes = "runs"): string {
    const made = spawnSync(binary(), ["key", "create", name, "--scope", scopes], { env: this.#env, encoding: "utf8" });
    const key = /isk_[\w-]+/.exec(made.stdout)?.[0];
    if (key === undefined) throw new Error(`no key: ${made.stdout}${made.stderr}`);
    return key;
  }

  async startAgain(): Promise<void> {
    const child = spawn(binary(), ["serve", "--listen", `127.0.0.1:${this.port}`], { env: this.#env, stdio: ["ignore", "ignore", "pipe"] });
    this.#child = child;
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    for (let tries = 0; tries < 400; tries++) {
      if (child.exitCode !== null) throw new Error(`isolith serve ended with ${child.exitCode}: ${stderr}`);
      const answer = await fetch(`${this.url}/healthz`).catch(() => undefined);
      if (answer?.ok) return;
      await sleep(25);
    }
    throw new Error(`isolith serve does not answer: ${stderr}`);
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

export async function freePort(): Promise<number> {
  const listener = createServer().listen(0, "127.0.0.1");
  await once(listener, "listening");
  const { port } = listener.address() as { port: number };
  listener.close();
  await once(listener, "close");
  return port;
}
