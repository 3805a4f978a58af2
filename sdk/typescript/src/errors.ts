/** What every error of this package has: a stable code, and often what to do about it. */
export interface IsolithErrorOptions {
  readonly hint?: string | undefined;
  readonly cause?: unknown;
}

/** The base of everything this package throws. A program that fails is not an error: it is an outcome. */
export class IsolithError extends Error {
  override readonly name: string = "IsolithError";
  /** A stable code, such as `connection.lost`. */
  readonly code: string;
  /** What to do about it. */
  readonly hint: string | undefined;

  constructor(code: string, message: string, options: IsolithErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.hint = options.hint;
  }
}

/** What a server says about a request that it refuses. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  readonly field?: string;
  readonly retry_after_ms?: number;
}

/** The request itself was refused; nothing ran. */
export class RequestError extends IsolithError {
  override readonly name: string = "RequestError";
  /** The field of the request that is wrong. */
  readonly field: string | undefined;
  /** When to try again, for a server that is busy. */
  readonly retryAfterMs: number | undefined;
  /** The HTTP status, where there was one. */
  readonly status: number | undefined;

  constructor(refusal: Refusal, status?: number) {
    super(refusal.code, refusal.message, { hint: refusal.hint });
    this.field = refusal.field;
    this.retryAfterMs = refusal.retry_after_ms;
    this.status = status;
  }
}

/** The server cannot be started or reached, or was lost. Whether a run that was under way has ended is not known. */
export class ConnectionError extends IsolithError {
  override readonly name: string = "ConnectionError";
}

/** The server said something that this client does not understand. */
export class ProtocolError extends ConnectionError {
  override readonly name: string = "ProtocolError";
}

/** The client was closed. */
export class ClosedError extends IsolithError {
  override readonly name: string = "ClosedError";
  constructor() {
    super("closed", "this Isolith client is closed");
  }
}

/** The caller's signal stopped the run. Its `name` is the one that `fetch` uses too. */
export class AbortError extends IsolithError {
  override readonly name: string = "AbortError";
  constructor(reason: unknown) {
    super("aborted", "the run was aborted", { cause: reason });
  }
}

/** Anything that was thrown, as a name and a message. Never throws, whatever it is given. */
export function describeThrown(thrown: unknown): { name: string; message: string } {
  try {
    if (thrown instanceof Error) return { name: String(thrown.name || "Error"), message: String(thrown.message) };
    if (typeof thrown === "object" && thrown !== null && "message" in thrown) {
      const { name, message } = thrown as { name?: unknown; message: unknown };
      return { name: typeof name === "string" && name !== "" ? name : "Error", message: String(message) };
    }
    if (typeof thrown === "object" && thrown !== null) return { name: "Error", message: JSON.stringify(thrown) };
    return { name: "Error", message: String(thrown) };
  } catch {
    return { name: "Error", message: "something was thrown that cannot be shown" };
  }
}
