import type { Approve } from "./approve.js";
import { AbortError, describeThrown } from "./errors.js";
import type { Isolith } from "./isolith.js";
import type { Grant, RunOptions } from "./options.js";
import type { Outcome, Output } from "./outcome.js";
import { sharedIsolith } from "./shared.js";

/** One thing that code gave: text, or its value. `display` is never made here. */
export type CodeOutput =
  | { readonly type: "stdout"; readonly data: Uint8Array }
  | { readonly type: "stderr"; readonly data: Uint8Array }
  | { readonly type: "display"; readonly mime: string; readonly data: Uint8Array }
  | { readonly type: "result"; readonly value: unknown };

export interface RunCodeOptions {
  readonly signal?: AbortSignal;
  /** Wins over the interpreter's `maxDurationMs`. */
  readonly timeoutMs?: number;
  readonly onOutput?: (chunk: CodeOutput) => Promise<void>;
}

export interface RunCodeResult {
  readonly outputs: readonly CodeOutput[];
  readonly exitCode: number;
  readonly error?: string;
}

/** A stateless interpreter: every run is on its own, so there are no methods for contexts. */
export interface CodeInterpreter {
  readonly languages: readonly string[];
  readonly isStateful: boolean;
  runCode(language: string, code: string, options?: RunCodeOptions): Promise<RunCodeResult>;
}

export interface IsolithInterpreterOptions {
  /** Runs the code. A local daemon, shared by everything in this process, unless given. */
  readonly client?: Isolith;
  /** `"off"` by default. `"allow"` is the whole public internet; for less, use `grants`. */
  readonly network?: "off" | "allow";
  readonly maxDurationMs?: number;
  readonly grants?: readonly Grant[];
  /** Who decides about calls that a grant asks about. */
  readonly approve?: Approve;
}

const LANGUAGES = ["javascript", "typescript"] as const;
const PUBLIC_INTERNET = "egress:*";
const encoder = new TextEncoder();

/** Runs scripts for workspaces that know a `CodeInterpreter`. A script that fails is a result with an exit code. */
export class IsolithInterpreter implements CodeInterpreter {
  readonly languages: readonly string[] = LANGUAGES;
  readonly isStateful = false;
  readonly #options: IsolithInterpreterOptions;

  constructor(options: IsolithInterpreterOptions = {}) {
    this.#options = options;
  }

  async runCode(language: string, code: string, options: RunCodeOptions = {}): Promise<RunCodeResult> {
    if (!LANGUAGES.some((known) => known === language)) return failed(unsupported(language));
    // Callbacks may be slow: each waits for the one before it, and the result for all of them.
    let delivered = Promise.resolve();
    const deliver = (chunk: CodeOutput): void => {
      const { onOutput } = options;
      if (onOutput !== undefined) delivered = delivered.then(() => onOutput(chunk));
    };
    try {
      const client = this.#options.client ?? sharedIsolith();
      const outcome = await client.run(
        code,
        this.#runOptions(options, (output) => deliver(toChunk(output))),
      );
      const outputs = outcome.outputs.map(toChunk);
      if (outcome.value !== undefined) {
        const result = { type: "result", value: outcome.value } as const;
        outputs.push(result);
        deliver(result);
      }
      await delivered;
      return outcome.status === "ok" ? { outputs, exitCode: 0 } : { outputs, exitCode: 1, error: errorText(outcome) };
    } catch (thrown) {
      if (thrown instanceof AbortError) return failed("the run was aborted");
      const { name, message } = describeThrown(thrown);
      return failed(`${name}: ${message}`);
    }
  }

  #runOptions(options: RunCodeOptions, onOutput: (output: Output) => void): RunOptions {
    const { network = "off", grants = [], approve, maxDurationMs } = this.#options;
    const timeoutMs = options.timeoutMs ?? maxDurationMs;
    return {
      onOutput,
      grants: network === "allow" ? [PUBLIC_INTERNET, ...grants] : grants,
      ...(approve === undefined ? {} : { approve }),
      ...(timeoutMs === undefined ? {} : { limits: { timeout: `${timeoutMs}ms` } }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    };
  }
}

function toChunk({ stream, text }: Output): CodeOutput {
  return { type: stream, data: encoder.encode(`${text}\n`) };
}

function failed(error: string): RunCodeResult {
  return { outputs: [], exitCode: 1, error };
}

function errorText(outcome: Outcome & { status: "error" }): string {
  const { kind, name, message, line, column } = outcome.error;
  const place = line === undefined ? "" : ` (line ${line}, column ${column ?? 1})`;
  return kind === "thrown" || kind === "syntax" ? `${name}: ${message}${place}` : message;
}

function unsupported(language: string): string {
  return (
    `IsolithInterpreter: language '${language}' is not supported ` +
    "(the script runner is JavaScript-only; use workspace_run_code for other languages)."
  );
}
