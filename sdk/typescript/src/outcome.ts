/** One piece of output: what one `console` call wrote. */
export interface Output {
  readonly stream: "stdout" | "stderr";
  /** Without the final newline. */
  readonly text: string;
  /** When, in milliseconds of the run's own time. */
  readonly at_ms: number;
}

/** The closed set of ways a run can fail. */
export type ErrorKind =
  | "syntax"
  | "thrown"
  | "timeout"
  | "cpu_limit"
  | "memory_limit"
  | "stack_overflow"
  | "output_limit"
  | "call_limit"
  | "denied"
  | "stalled"
  | "divergence"
  | "cancelled"
  | "unsupported"
  | "internal";

/** Why a run failed. */
export interface RunError {
  readonly kind: ErrorKind;
  /** `TypeError` and the like, or a name of isolith's own. */
  readonly name: string;
  readonly message: string;
  /** A stable code, where the error came from a host call: `egress.denied`. */
  readonly code?: string;
  /** Frames, with positions in the program's own source. */
  readonly stack?: string;
  readonly line?: number;
  readonly column?: number;
  readonly hint?: string;
}

/** What a run took place on. */
export interface RanOn {
  /** The engine that brought it to its end. */
  readonly engine: string;
  /** The jail of the process that it had to itself, where it had one: the walls that the system refused. */
  readonly jail?: { readonly missing: readonly { readonly wall: string; readonly why: string }[] };
  /** With engine `auto`: what came of the attempt to change over. */
  readonly switch?: { readonly after_cpu_us: number; readonly taken_over: boolean; readonly why?: string };
}

/** What a run used. */
export interface Usage {
  readonly wall_us: number;
  readonly cpu_us: number;
  readonly memory_peak_bytes: number;
  readonly calls: number;
  readonly bytes_in: number;
  readonly bytes_out: number;
}

/** One host call, as the receipt lists it: what, not with which content. */
export interface CallRecord {
  readonly grant: string;
  readonly what: string;
  readonly outcome: unknown;
  readonly duration_us: number;
}

/** A call that a run wants to make, and that waits for someone's word. */
export interface Approval {
  /** Which of the run's calls. */
  readonly id: number;
  /** The grant that asks: `ask tool:mail`. */
  readonly grant: string;
  /** What is to be done, in words. */
  readonly what: string;
  /** What a tool or a program is to be called with. */
  readonly args?: unknown;
  /** Since when, in microseconds since 1970. */
  readonly asked_us: number;
  /** Until when: then the answer is no. */
  readonly expires_us: number;
}

/** Everything worth knowing about a run, however it ended. */
export interface Receipt {
  /** The run's name. */
  readonly run?: string;
  readonly outputs: readonly Output[];
  readonly ran_on?: RanOn;
  readonly usage: Usage;
  readonly calls: readonly CallRecord[];
  /** What the run was allowed to do. */
  readonly grants?: readonly string[];
  /** What was asked for and not, or not wholly, allowed. */
  readonly narrowed?: readonly unknown[];
  /** The grants that were used, with counts. */
  readonly exercised: readonly unknown[];
  /** What was asked for and refused. */
  readonly denied: readonly unknown[];
}

export interface Success<T = unknown> extends Receipt {
  readonly status: "ok";
  /** Absent for `undefined`. */
  readonly value?: T;
  readonly error?: undefined;
}

export interface Failure extends Receipt {
  readonly status: "error";
  readonly value?: undefined;
  readonly error: RunError;
}

/** How a run ended. */
export type Outcome<T = unknown> = Success<T> | Failure;
