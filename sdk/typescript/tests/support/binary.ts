import { accessSync, constants, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";

/** The binary under test. Nothing is skipped without it. */
export function binary(): string {
  const path = process.env.ISOLITH_BINARY;
  if (path === undefined || path === "") throw new Error("set ISOLITH_BINARY to an isolith binary: these tests run against the real one");
  accessSync(path, constants.X_OK);
  return path;
}

/** A daemon whose process can be named. */
export class NamedDaemon {
  readonly binary: string;
  readonly #folder = mkdtempSync(join(tmpdir(), "isolith-sdk-"));

  constructor() {
    this.binary = join(this.#folder, "isolith");
    writeFileSync(this.binary, `#!/bin/sh\necho $$ > '${this.#folder}/pid'\nexec '${binary()}' "$@"\n`, { mode: 0o755 });
  }

  pid(): number {
    return Number(readFileSync(join(this.#folder, "pid"), "utf8"));
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
