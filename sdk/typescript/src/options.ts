import type { Approve } from "./approve.js";
import type { Output } from "./outcome.js";
import type { Tools } from "./tools.js";

/** Where the server is, and what this client allows it. */
export interface IsolithOptions {
  /** The `isolith` binary of the local daemon. Otherwise `ISOLITH_BINARY`, otherwise `isolith` on the PATH. */
  readonly binary?: string;
  /** More arguments of the local daemon, such as `["--policy", "policy.toml"]`. */
  readonly args?: readonly string[];
  /** More environment variables of the local daemon. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The working folder of the local daemon. */
  readonly cwd?: string;
  /** A running server, such as `https://isolith.example.com`, in place of a local daemon. */
  readonly url?: string;
  /** The key for that server. Otherwise `ISOLITH_KEY`. */
  readonly key?: string;
  /** Who decides about calls that a grant asks about, in runs that do not say otherwise. */
  readonly approve?: Approve;
  /** How a lost connection to a server is tried again. */
  readonly reconnect?: { readonly attempts?: number; readonly firstDelayMs?: number; readonly longestDelayMs?: number };
  /** How long a connection may take to be ready. 10 seconds by default. */
  readonly connectTimeoutMs?: number;
  /** How often a quiet connection is asked for a sign of life. 15 seconds by default. */
  readonly pingMs?: number;
  /** The largest answer of a tool, as JSON. 16 MiB by default, and a little less than 24 MiB at most. */
  readonly maxAnswerBytes?: number;
  /** The largest message that is accepted from the server. 64 MiB by default. */
  readonly maxMessageBytes?: number;
}

/** A grant as manifests write it: `"kv:cache"`, or an object with a `kind`. */
export type Grant = string | Readonly<Record<string, unknown>>;

/** A number of seconds, or text with a unit: `"30s"`, `"500ms"`. */
export type Duration = number | string;
/** A number of bytes, or text with a unit: `"64MiB"`. */
export type Size = number | string;

/** What a run may use. What is not said has the server's default. */
export interface Limits {
  /** From start to end, waiting for tools included. */
  readonly timeout?: Duration;
  /** Computing only. */
  readonly cpu?: Duration;
  readonly memory?: Size;
  readonly stack?: Size;
  readonly source?: Size;
  readonly output?: Size;
  readonly value?: Size;
  readonly payload?: Size;
  readonly calls?: number;
  readonly calls_in_flight?: number;
  readonly suspended?: Size;
  readonly egress_requests?: number;
  readonly egress_response?: Size;
}

/** What a program runs on: `auto` begins on `quickjs` and goes on in `v8` when it computes for long. */
export type Engine = "quickjs" | "v8" | "auto";

/** What stands around a program besides its engine: `process` is a jailed process of its own. */
export type Isolation = "none" | "process";

/** What a program is given. By default: nothing. */
export interface RunOptions {
  /** Functions of this process that the program may call. */
  readonly tools?: Tools;
  readonly grants?: readonly Grant[];
  readonly limits?: Limits;
  /** Any JSON, visible as `input`. */
  readonly input?: unknown;
  /** Globals of the program, by name. */
  readonly args?: Readonly<Record<string, unknown>>;
  /** What the program is called in errors. */
  readonly name?: string;
  readonly language?: "auto" | "javascript" | "typescript";
  /** `quickjs` by default. */
  readonly engine?: Engine;
  /** `none` by default. */
  readonly isolation?: Isolation;
  /** Fixes all randomness. */
  readonly seed?: number;
  /** As in a manifest. */
  readonly time?: unknown;
  /** As in a manifest. */
  readonly random?: unknown;
  /** A name for the run: up to 64 of `A-Z a-z 0-9 _ -`. One is made up otherwise. */
  readonly run?: string;
  /** Called with each piece of output as it is written. */
  readonly onOutput?: (output: Output) => void;
  /**
   * Who decides about calls that a grant asks about (`ask tool:mail`): a function, or `"elsewhere"` for whoever answers by
   * `isolith approvals` or HTTP. Without it, they are denied.
   */
  readonly approve?: Approve;
  /** Stops the run, and rejects with an `AbortError`. */
  readonly signal?: AbortSignal;
}

/** What a run is taken up again with. */
export type AttachOptions = Pick<RunOptions, "tools" | "onOutput" | "signal" | "approve">;
