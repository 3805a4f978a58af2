import { type Consent, hasJson } from "./approve.js";
import { ConnectionError, IsolithError, type Refusal, RequestError } from "./errors.js";
import type { Approval, Outcome } from "./outcome.js";

/** A run that has not ended. */
export interface Unfinished {
  readonly status: "running" | "suspended";
  /** What it asks about before it goes on. */
  readonly approvals?: readonly Approval[];
}

/** What a server says about a run that it knows. */
export type RunState = (Outcome | Unfinished) & { readonly run: string };

export interface RunsApi {
  /** One run; `wait` waits for its end or its next round of calls. */
  get(run: string, options?: { readonly wait?: string }): Promise<RunState>;
  /** The caller's runs, the newest first. */
  list(options?: { readonly limit?: number; readonly before?: string }): Promise<unknown>;
  /** Stops a run. */
  cancel(run: string): Promise<RunState>;
}

/** A call that waits for someone's word, and the run that wants to make it. */
export type OpenApproval = Approval & { readonly run: string };

/** How long to wait for what the run does next, such as `"10s"`; not at all unless told. */
interface Waiting {
  readonly wait?: string;
}

export interface ApprovalsApi {
  /** Everything that the caller's runs ask about. */
  list(): Promise<readonly OpenApproval[]>;
  /** Agrees to a call: once unless `consent` says more, and with other arguments if `args` has some. */
  approve(run: string, call: number, options?: Waiting & { readonly consent?: Consent; readonly args?: unknown }): Promise<RunState>;
  /** Says no. The program sees the `reason`. */
  deny(run: string, call: number, options?: Waiting & { readonly reason?: string }): Promise<RunState>;
}

export interface SecretsApi {
  set(name: string, value: string): Promise<void>;
  /** Names only: a value never comes out. */
  list(): Promise<unknown>;
  delete(name: string): Promise<void>;
}

export type Audit = (options?: { readonly run?: string; readonly denied?: boolean; readonly host?: string }) => Promise<unknown>;

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** The plain HTTP side of a server. */
export class Http {
  readonly #base: string;
  readonly #key: string | undefined;

  constructor(url: string, key: string | undefined) {
    this.#base = url.replace(/\/+$/, "");
    this.#key = key;
  }

  readonly runs: RunsApi = {
    get: (run, options = {}) => this.#ask("GET", `/v1/runs/${encodeURIComponent(run)}`, { wait: options.wait }),
    list: (options = {}) => this.#ask("GET", "/v1/runs", { limit: options.limit, before: options.before }),
    cancel: (run) => this.#ask("POST", `/v1/runs/${encodeURIComponent(run)}/cancel`),
  };

  readonly approvals: ApprovalsApi = {
    list: async () => (await this.#ask<{ approvals: readonly OpenApproval[] }>("GET", "/v1/approvals")).approvals,
    approve: async (run, call, { wait, ...said } = {}) => {
      if (said.args !== undefined && !hasJson(said.args)) {
        throw new IsolithError("approval.args", "`args` have no JSON form, and without them another call would be agreed to");
      }
      return this.#decide(run, { id: call, decision: "approve", ...said }, wait);
    },
    deny: (run, call, { wait, ...said } = {}) => this.#decide(run, { id: call, decision: "deny", ...said }, wait),
  };

  readonly secrets: SecretsApi = {
    set: (name, value) => this.#ask("PUT", `/v1/secrets/${encodeURIComponent(name)}`, {}, { value }),
    list: () => this.#ask("GET", "/v1/secrets"),
    delete: (name) => this.#ask("DELETE", `/v1/secrets/${encodeURIComponent(name)}`),
  };

  readonly audit: Audit = (options = {}) => this.#ask("GET", "/v1/audit", { run: options.run, denied: options.denied, host: options.host });

  #decide(run: string, said: unknown, wait = "0ms"): Promise<RunState> {
    return this.#ask("POST", `/v1/runs/${encodeURIComponent(run)}/approvals`, {}, { approvals: [said], wait });
  }

  async #ask<T>(method: string, path: string, query: Query = {}, body?: unknown): Promise<T> {
    const headers: Record<string, string> = { accept: "application/json" };
    if (this.#key !== undefined) headers.authorization = `Bearer ${this.#key}`;
    if (body !== undefined) headers["content-type"] = "application/json";
    const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) };
    let response: Response;
    let text: string;
    try {
      response = await fetch(`${this.#base}${path}${search(query)}`, init);
      text = await response.text();
    } catch (cause) {
      throw new ConnectionError("connection.failed", `${this.#base} cannot be reached`, { cause });
    }
    if (!response.ok) throw refusal(response.status, text);
    return (text === "" ? undefined : JSON.parse(text)) as T;
  }
}

function search(query: Query): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) params.set(name, String(value));
  const text = params.toString();
  return text === "" ? "" : `?${text}`;
}

/** What a server that refuses says, or what can be said for it. */
export function refusal(status: number, body: string): RequestError {
  try {
    const { error } = JSON.parse(body) as { error: Refusal };
    if (typeof error.code === "string") return new RequestError(error, status);
  } catch {
    // A proxy in between may answer with anything.
  }
  return new RequestError({ code: `http.${status}`, message: `the server answered ${status}: ${body.slice(0, 200)}` }, status);
}
