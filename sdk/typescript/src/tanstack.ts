import type { Approve } from "./approve.js";
import type { Isolith } from "./isolith.js";
import type { Engine, Grant, Isolation } from "./options.js";
import { sharedIsolith } from "./shared.js";
import { bindTools } from "./tanstack/bindings.js";
import { IsolithContext } from "./tanstack/context.js";
import type { IsolateDriver } from "./tanstack/types.js";

export type {
  ExecutionResult,
  IsolateConfig,
  IsolateContext,
  IsolateDriver,
  NormalizedError,
  ToolBinding,
} from "./tanstack/types.js";

export interface IsolithDriverOptions {
  /** Runs the code. A local daemon, shared by everything in this process, unless given. */
  readonly client?: Isolith;
  /** Milliseconds for a whole execution, tool calls included. 30,000 by default. */
  readonly timeout?: number;
  /** Megabytes. 128 by default, between 8 and 1,024. */
  readonly memoryLimit?: number;
  /** How many tool calls one execution may make. 10,000 by default. */
  readonly maxToolCalls?: number;
  /** What the code may do besides calling its tools. Nothing by default. */
  readonly grants?: readonly Grant[];
  /** What the code runs on. `quickjs` by default. */
  readonly engine?: Engine;
  /** What stands around it besides. `none` by default. */
  readonly isolation?: Isolation;
  /** Who decides about calls that a grant asks about. Their time counts as well. */
  readonly approve?: Approve;
  /** Called with each line of `console` output as it is written. */
  readonly onLog?: (line: string) => void;
}

const TIMEOUT_MS = 30_000;
const MEMORY_MB = 128;
const MEMORY_MB_MIN = 8;
const MEMORY_MB_MAX = 1024;
const TOOL_CALLS_MAX = 10_000;

/** A driver for TanStack AI's Code Mode. */
export function createIsolithDriver(options: IsolithDriverOptions = {}): IsolateDriver {
  return {
    async createContext(config) {
      const memoryMb = config.memoryLimit ?? options.memoryLimit ?? MEMORY_MB;
      const timeoutMs = config.timeout ?? options.timeout ?? TIMEOUT_MS;
      if (!(memoryMb >= MEMORY_MB_MIN)) throw new Error(`\`memoryLimit\` must be at least ${MEMORY_MB_MIN}`);
      if (memoryMb > MEMORY_MB_MAX) throw new Error(`\`memoryLimit\` must be at most ${MEMORY_MB_MAX}`);
      if (!(timeoutMs > 0)) throw new Error("`timeout` must be more than 0");
      return new IsolithContext({
        client: options.client ?? sharedIsolith(),
        bound: bindTools(config.bindings),
        limits: { timeoutMs: Math.ceil(timeoutMs), memoryMb, toolCalls: options.maxToolCalls ?? TOOL_CALLS_MAX },
        grants: options.grants,
        engine: options.engine,
        isolation: options.isolation,
        approve: options.approve,
        onLog: options.onLog,
      });
    },
  };
}
