import { type ChildProcessByStdio, spawn } from "node:child_process";
import process from "node:process";
import type { Readable, Writable } from "node:stream";
import { ConnectionError } from "./errors.js";
import { Lines } from "./lines.js";
import type { Link, LinkEvents } from "./link.js";

export interface ChildOptions {
  readonly binary: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>> | undefined;
  readonly cwd: string | undefined;
  readonly messageBytesMax: number;
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;
type Unreferable = { ref?: () => void; unref?: () => void };

/** How much of what the daemon wrote to stderr is kept, to be shown when it fails. */
const STDERR_CHARS_MAX = 4096;
/** How long a daemon may take to end after its input was closed. */
const CLOSE_GRACE_MS = 2000;

// One listener for all children, so that many clients do not look like a leak of listeners.
const living = new Set<Child>();
let watching = false;

/** Starts a daemon whose life is bound to this process: it ends when its input does, and is killed at exit. */
export function openChild(options: ChildOptions, events: LinkEvents): Promise<Link> {
  return new Promise((resolve, reject) => {
    const child: Child = spawn(options.binary, ["serve", "--stdio", ...options.args], {
      stdio: ["pipe", "pipe", "pipe"],
      env: options.env === undefined ? process.env : { ...process.env, ...options.env },
      cwd: options.cwd,
      windowsHide: true,
    });
    child.once("error", (cause) => reject(cannotStart(options.binary, cause)));
    child.once("spawn", () => resolve(new ChildLink(child, options, events)));
  });
}

class ChildLink implements Link {
  readonly #child: Child;
  readonly #exited: Promise<void>;
  #stderr = "";
  #over = false;
  #held = true;

  constructor(child: Child, options: ChildOptions, events: LinkEvents) {
    this.#child = child;
    living.add(child);
    killChildrenAtExit();
    const lose = (error: ConnectionError) => {
      if (this.#over) return;
      this.#over = true;
      child.kill();
      events.lost(error);
    };
    const lines = new Lines(options.messageBytesMax, events.message);
    child.stdout.on("data", (chunk) => {
      if (!this.#over && !lines.push(chunk)) lose(tooLarge(options.messageBytesMax));
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-STDERR_CHARS_MAX);
    });
    child.stdin.on("drain", events.drain);
    // The exit says more than a broken pipe does.
    child.stdin.on("error", () => {});
    child.on("error", (cause) => lose(new ConnectionError("daemon.failed", "the isolith daemon failed", { cause })));
    this.#exited = new Promise((done) => {
      child.once("close", (code, signal) => {
        living.delete(child);
        lose(ended(code, signal, this.#stderr));
        done();
      });
    });
  }

  send(messages: readonly string[]): boolean {
    return this.#child.stdin.write(`${messages.join("\n")}\n`);
  }

  hold(held: boolean): void {
    // Some runtimes count, so each call has to be a change.
    if (held === this.#held) return;
    this.#held = held;
    const { stdin, stdout, stderr } = this.#child;
    for (const handle of [this.#child, stdin, stdout, stderr] as Unreferable[]) {
      if (held) handle.ref?.();
      else handle.unref?.();
    }
  }

  async close(): Promise<void> {
    this.#over = true;
    this.hold(true);
    this.#child.stdin.end();
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), CLOSE_GRACE_MS);
    await this.#exited;
    clearTimeout(timer);
  }
}

function killChildrenAtExit(): void {
  if (watching) return;
  watching = true;
  process.once("exit", () => {
    for (const child of living) child.kill();
  });
}

function cannotStart(binary: string, cause: Error): ConnectionError {
  const missing = (cause as NodeJS.ErrnoException).code === "ENOENT";
  const message = missing ? `there is no \`${binary}\` to start` : `\`${binary}\` cannot be started: ${cause.message}`;
  const hint = "install isolith, set ISOLITH_BINARY to its path, or give the option `binary` or `url`";
  return new ConnectionError(missing ? "daemon.missing" : "daemon.failed", message, { hint, cause });
}

function ended(code: number | null, signal: string | null, stderr: string): ConnectionError {
  const how = signal === null ? `with exit code ${code}` : `by ${signal}`;
  const said = stderr.trim() === "" ? "" : `: ${stderr.trim()}`;
  return new ConnectionError("daemon.ended", `the isolith daemon ended ${how}${said}`);
}

function tooLarge(bytesMax: number): ConnectionError {
  const hint = "raise `maxMessageBytes`, or let programs return less";
  return new ConnectionError("message.too_large", `the server sent a message of more than ${bytesMax} bytes`, { hint });
}
