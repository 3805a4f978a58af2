import type { Approve } from "./approve.js";
import { parseWithBytes, stringifyWithBytes } from "./cloudflare/binary.js";
import { namespacesOf } from "./cloudflare/namespaces.js";
import type { ConnectorBinding, ExecuteResult, Executor, ResolvedProvider } from "./cloudflare/types.js";
import { outcomeInTime } from "./deadline.js";
import { describeThrown } from "./errors.js";
import { setUp } from "./guest/setup.js";
import type { Isolith } from "./isolith.js";
import type { Grant, RunOptions } from "./options.js";
import type { Outcome } from "./outcome.js";
import { sharedIsolith } from "./shared.js";

export type {
  ConnectorBinding,
  ExecuteOptions,
  ExecuteResult,
  Executor,
  ProviderFunction,
  ResolvedProvider,
} from "./cloudflare/types.js";

export interface IsolithExecutorOptions {
  /** Runs the code. A local daemon, shared by everything in this process, unless given. */
  readonly client?: Isolith;
  /** Milliseconds for a whole execution, tool calls included. 60,000 by default. */
  readonly timeout?: number;
  /** What the code may do besides calling its tools. Nothing by default. */
  readonly grants?: readonly Grant[];
  /** Who decides about calls that a grant asks about. Their time counts as well. */
  readonly approve?: Approve;
}

const TIMEOUT_MS = 60_000;
const LOG_ENTRIES_MAX = 10_000;
const LOG_UNITS_MAX = 1_000_000;
const LOG_TRUNCATED = "[log output truncated]";
const PREFIXES = { log: "", info: "", debug: "", warn: "[warn] ", error: "[error] " };
const TIMED_OUT = "Execution timed out";
/** The one tool that all calls of all namespaces go through. */
const DISPATCH = "codemode$";

/** An executor for Cloudflare's codemode. It never throws: what goes wrong is in `error`. */
export class IsolithExecutor implements Executor {
  readonly #options: IsolithExecutorOptions;

  constructor(options: IsolithExecutorOptions = {}) {
    this.#options = options;
  }

  async execute(
    code: string,
    providersOrFns: ResolvedProvider[] | Record<string, (...args: unknown[]) => Promise<unknown>>,
    options: { connectors?: ConnectorBinding[] } = {},
  ): Promise<ExecuteResult> {
    try {
      const providers = Array.isArray(providersOrFns) ? providersOrFns : [{ name: "codemode", fns: providersOrFns }];
      return await this.#execute(unfenced(code), providers, options.connectors ?? []);
    } catch (thrown) {
      return { result: undefined, error: describeThrown(thrown).message, logs: [] };
    }
  }

  async #execute(code: string, providers: ResolvedProvider[], connectors: ConnectorBinding[]): Promise<ExecuteResult> {
    const namespaces = namespacesOf(providers, connectors);
    if (typeof namespaces === "string") return { result: undefined, error: namespaces };
    const { program, args } = setUp(code, {
      prefixes: PREFIXES,
      entriesMax: LOG_ENTRIES_MAX,
      unitsMax: LOG_UNITS_MAX,
      truncated: LOG_TRUNCATED,
      namespaces: namespaces.map(({ name, prelude }) => ({ name, prelude })),
      dispatch: DISPATCH,
    });
    const dispatch = async ([index, method, sent]: [number, string, string]) => {
      const answer = await namespaces[index]?.call(method, parseWithBytes(sent) as unknown[]);
      return stringifyWithBytes(answer);
    };
    const running = this.#client().start(program, { ...this.#base(), args, tools: { [DISPATCH]: dispatch } });
    const outcome = await outcomeInTime(running, this.#options.timeout ?? TIMEOUT_MS);
    return outcome === undefined ? { result: undefined, error: TIMED_OUT, logs: [] } : toResult(outcome);
  }

  #client(): Isolith {
    return this.#options.client ?? sharedIsolith();
  }

  #base(): RunOptions {
    const timeout = `${this.#options.timeout ?? TIMEOUT_MS}ms`;
    const { grants, approve } = this.#options;
    const limits = { timeout, cpu: timeout, output: "4MiB", calls: 10_000, calls_in_flight: 1024 };
    return { limits, ...(grants === undefined ? {} : { grants }), ...(approve === undefined ? {} : { approve }) };
  }
}

/** Models like to put code between fences. */
function unfenced(code: string): string {
  const text = code.trim();
  const start = text.indexOf("\n");
  if (!text.startsWith("```") || !text.endsWith("```") || start === -1 || start > text.length - 3) return code;
  return text.slice(start + 1, -3);
}

function toResult(outcome: Outcome): ExecuteResult {
  const logs = outcome.outputs.map(({ stream, text }) => (stream === "stderr" ? `[error] ${text}` : text));
  if (outcome.status === "ok") return { result: outcome.value, logs };
  const { kind, message } = outcome.error;
  const error = kind === "timeout" || kind === "cpu_limit" ? TIMED_OUT : message;
  return { result: undefined, error, logs };
}
