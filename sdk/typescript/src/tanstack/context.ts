import type { Approve } from "../approve.js";
import { outcomeInTime } from "../deadline.js";
import { correctPlaces, setUp } from "../guest/setup.js";
import type { Isolith, RunHandle } from "../isolith.js";
import type { Engine, Grant, Isolation, RunOptions } from "../options.js";
import type { Outcome, Output } from "../outcome.js";
import type { BoundTools } from "./bindings.js";
import { type AppliedLimits, disposedError, normalizeError, normalizeThrown, timeoutError } from "./errors.js";
import type { ExecutionResult, IsolateContext } from "./types.js";

export interface ContextOptions {
  readonly client: Isolith;
  readonly bound: BoundTools;
  readonly limits: AppliedLimits;
  readonly grants: readonly Grant[] | undefined;
  readonly engine: Engine | undefined;
  readonly isolation: Isolation | undefined;
  readonly approve: Approve | undefined;
  readonly onLog: ((line: string) => void) | undefined;
}

/** What the program is called in stacks. */
const PROGRAM_NAME = "code.js";
const LOG_ENTRIES_MAX = 10_000;
const LOG_UNITS_MAX = 1_000_000;
const LOG_TRUNCATED = "[log output truncated]";
const PREFIXES = { log: "", info: "INFO: ", warn: "WARN: ", error: "ERROR: ", debug: "" };
const CALLS_IN_FLIGHT = 1024;

/** One context: executes one program after the other, each in a sandbox of its own. Nothing here ever rejects. */
export class IsolithContext implements IsolateContext {
  readonly #options: ContextOptions;
  readonly #base: RunOptions;
  #last: Promise<unknown> | undefined;
  #running: RunHandle | undefined;
  #disposed = false;

  constructor(options: ContextOptions) {
    this.#options = options;
    this.#base = baseOptions(options);
  }

  readonly execute = <T = unknown>(code: string): Promise<ExecutionResult<T>> => {
    const result = this.#last === undefined ? this.#execute<T>(code) : this.#last.then(() => this.#execute<T>(code));
    this.#last = result;
    return result;
  };

  readonly dispose = (): Promise<void> => {
    this.#disposed = true;
    this.#running?.cancel();
    return Promise.resolve();
  };

  async #execute<T>(code: string): Promise<ExecutionResult<T>> {
    if (this.#disposed) return { success: false, error: disposedError(), logs: [] };
    try {
      const { program, options } = this.#prepare(String(code));
      const running = this.#options.client.start<T>(program, options);
      this.#running = running;
      const outcome = await outcomeInTime(running, this.#options.limits.timeoutMs);
      if (outcome !== undefined) return this.#result<T>(outcome, String(code));
      return { success: false, error: timeoutError(this.#options.limits), logs: [] };
    } catch (thrown) {
      const error = this.#disposed ? disposedError() : normalizeThrown(thrown);
      return { success: false, error, logs: [] };
    } finally {
      this.#running = undefined;
    }
  }

  #prepare(code: string): { program: string; options: RunOptions } {
    // A program's value is what it returns. isolith alone would take its last expression otherwise.
    const body = /\breturn\b/.test(code) ? code : `${code}\nreturn;`;
    const { globals } = this.#options.bound;
    if (globals === undefined && !mentionsConsole(code)) return { program: body, options: this.#base };
    const { program, args } = setUp(body, {
      prefixes: PREFIXES,
      json: true,
      entriesMax: LOG_ENTRIES_MAX,
      unitsMax: LOG_UNITS_MAX,
      truncated: LOG_TRUNCATED,
      ...(globals === undefined ? {} : { globals }),
    });
    return { program, options: { ...this.#base, args } };
  }

  #result<T>(outcome: Outcome<T>, code: string): ExecutionResult<T> {
    const logs = outcome.outputs.length === 0 ? [] : capped(outcome.outputs);
    if (outcome.status === "ok") return { success: true, ...(outcome.value === undefined ? {} : { value: outcome.value }), logs };
    if (this.#disposed) return { success: false, error: disposedError(), logs };
    const setUpRan = this.#options.bound.globals !== undefined || mentionsConsole(code);
    const error = setUpRan ? correctPlaces(outcome.error, code, PROGRAM_NAME) : outcome.error;
    return { success: false, error: normalizeError(error, this.#options.limits), logs };
  }
}

function baseOptions({ bound, limits, grants, engine, isolation, approve, onLog }: ContextOptions): RunOptions {
  return {
    tools: bound.tools,
    name: PROGRAM_NAME,
    language: "javascript",
    limits: {
      timeout: `${limits.timeoutMs}ms`,
      // One total deadline: computing alone has no shorter one.
      cpu: `${limits.timeoutMs}ms`,
      memory: `${limits.memoryMb}MiB`,
      output: "4MiB",
      calls: limits.toolCalls,
      calls_in_flight: CALLS_IN_FLIGHT,
    },
    ...(grants === undefined ? {} : { grants }),
    ...(engine === undefined ? {} : { engine }),
    ...(isolation === undefined ? {} : { isolation }),
    ...(approve === undefined ? {} : { approve }),
    ...(onLog === undefined ? {} : { onOutput: (output: Output) => onLog(line(output)) }),
  };
}

/** Only its format is at stake: a program that hides the word gets isolith's own, which is no less safe. */
function mentionsConsole(code: string): boolean {
  return code.includes("console");
}

function capped(outputs: readonly Output[]): string[] {
  const logs: string[] = [];
  let units = 0;
  for (const output of outputs) {
    const text = line(output);
    units += text.length;
    // The line that says so comes from the sandbox when it counted itself, and is not said twice.
    if (logs.length >= LOG_ENTRIES_MAX || units > LOG_UNITS_MAX) {
      logs.push(LOG_TRUNCATED);
      break;
    }
    logs.push(text);
  }
  return logs;
}

/** In the sandbox everything is written to stdout with its prefix; what is on stderr the runtime itself said. */
function line(output: Output): string {
  return output.stream === "stderr" ? `ERROR: ${output.text}` : output.text;
}
