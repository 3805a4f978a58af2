import { randomBytes } from "node:crypto";
import process from "node:process";
import type { Approve } from "./approve.js";
import { DEFAULT_BACKOFF } from "./backoff.js";
import { openChild } from "./child.js";
import { IsolithError } from "./errors.js";
import { type ApprovalsApi, type Audit, Http, type RunsApi, type SecretsApi } from "./http.js";
import type { OpenLink } from "./link.js";
import type { AttachOptions, IsolithOptions, RunOptions } from "./options.js";
import type { Outcome } from "./outcome.js";
import { encodeRequest } from "./request.js";
import { LiveRun, type RunWatcher } from "./run.js";
import { Session } from "./session.js";
import { RunStream } from "./stream.js";
import { type PreparedTools, prepareTools } from "./tools.js";
import { openWebSocket } from "./websocket/link.js";
import { SENT_BYTES_MAX } from "./wire.js";

const ANSWER_BYTES_MAX = 16 << 20;
/** What stands around an answer in its message. */
const MESSAGE_HEAD_BYTES = 1024;
const MESSAGE_BYTES_MAX = 64 << 20;
const CONNECT_MS = 10_000;
const PING_MS = 15_000;
const RUN_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** A run that was started. */
export interface RunHandle<T = unknown> {
  /** The run's name. */
  readonly id: string;
  readonly outcome: Promise<Outcome<T>>;
  /** Stops it; its outcome comes as usual. */
  cancel(): void;
}

/** Runs programs, in a daemon of its own or on a server. All runs share one connection. */
export class Isolith {
  readonly #session: Session;
  readonly #http: Http | undefined;
  readonly #answerBytesMax: number;
  readonly #approve: Approve | undefined;
  readonly #prefix = randomBytes(9).toString("base64url");
  #count = 0;

  constructor(options: IsolithOptions = {}) {
    this.#answerBytesMax = Math.min(options.maxAnswerBytes ?? ANSWER_BYTES_MAX, SENT_BYTES_MAX - MESSAGE_HEAD_BYTES);
    this.#approve = options.approve;
    const key = options.key || process.env.ISOLITH_KEY || undefined;
    this.#http = options.url === undefined ? undefined : new Http(options.url, key);
    this.#session = new Session({
      open: opener(options, key),
      runsOutliveLinks: options.url !== undefined,
      backoff: { ...DEFAULT_BACKOFF, ...options.reconnect },
      helloMs: options.connectTimeoutMs ?? CONNECT_MS,
      pingMs: options.pingMs ?? PING_MS,
    });
  }

  /**
   * Runs a program. A program that fails resolves too, with `status: "error"`. It rejects when the request is refused
   * (`RequestError`), the connection is lost for good (`ConnectionError`), or the signal is aborted (`AbortError`).
   */
  run<T = unknown>(program: string, options: RunOptions = {}): Promise<Outcome<T>> {
    return outcomeOf(() => this.start(program, options));
  }

  /** Like `run`, for callers that want to stop it by hand. What is wrong with the request itself is thrown. */
  start<T = unknown>(program: string, options: RunOptions = {}): RunHandle<T> {
    const { onOutput } = options;
    return this.#start(program, options, onOutput && { output: onOutput }) as RunHandle as RunHandle<T>;
  }

  /** Runs a program and gives its events as they happen. Leaving the loop early stops the run. */
  stream<T = unknown>(program: string, options: RunOptions = {}): RunStream<T> {
    return new RunStream<T>((watcher) => this.#start(program, options, watcher), options.onOutput);
  }

  /** Takes up a run that was started with a name on a server, by an earlier process for example. */
  attach<T = unknown>(run: string, options: AttachOptions = {}): Promise<Outcome<T>> {
    const { onOutput } = options;
    const watcher = onOutput && { output: onOutput };
    return outcomeOf(() => this.#live(run, "", prepareTools(options.tools), options, watcher, true));
  }

  /** The server's runs. Only with `url`. */
  get runs(): RunsApi {
    return this.#server().runs;
  }

  /** What the caller's runs ask about, and answers to it. Only with `url`. */
  get approvals(): ApprovalsApi {
    return this.#server().approvals;
  }

  /** The caller's secrets on the server. Only with `url`. */
  get secrets(): SecretsApi {
    return this.#server().secrets;
  }

  /** What the caller's runs did and were refused. Only with `url`. */
  get audit(): Audit {
    return this.#server().audit;
  }

  /** Stops what still runs and ends the connection, and the daemon with it. */
  close(): Promise<void> {
    return this.#session.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #start(program: string, options: RunOptions, watcher: RunWatcher | undefined): LiveRun {
    const run = options.run ?? this.#name();
    const tools = prepareTools(options.tools);
    return this.#live(run, encodeRequest(run, program, options, tools.wire), tools, options, watcher, false);
  }

  #live(
    id: string,
    request: string,
    tools: PreparedTools,
    { approve, signal }: Pick<RunOptions, "approve" | "signal">,
    watcher: RunWatcher | undefined,
    known: boolean,
  ): LiveRun {
    if (!RUN_NAME.test(id)) throw new IsolithError("run.name", "a run's name is up to 64 of `A-Z a-z 0-9 _ -`");
    const { functions } = tools;
    const live = new LiveRun(this.#session, {
      id,
      request,
      functions,
      answerBytesMax: this.#answerBytesMax,
      approve: approve ?? this.#approve,
      watcher,
      signal,
      known,
    });
    live.start();
    return live;
  }

  #name(): string {
    this.#count += 1;
    return `${this.#prefix}-${this.#count.toString(36)}`;
  }

  #server(): Http {
    if (this.#http !== undefined) return this.#http;
    const hint = "start `isolith serve` and give its `url`";
    throw new IsolithError("http.missing", "a local daemon has no HTTP side", { hint });
  }
}

/** What is wrong with a request rejects too: callers handle errors in one place. */
function outcomeOf<T>(start: () => RunHandle): Promise<Outcome<T>> {
  try {
    return start().outcome as Promise<Outcome<T>>;
  } catch (thrown) {
    return Promise.reject(thrown);
  }
}

function opener(options: IsolithOptions, key: string | undefined): OpenLink {
  const messageBytesMax = options.maxMessageBytes ?? MESSAGE_BYTES_MAX;
  const { url } = options;
  if (url !== undefined) {
    const timeoutMs = options.connectTimeoutMs ?? CONNECT_MS;
    return (events) => openWebSocket({ url: `${url.replace(/\/+$/, "")}/v1/socket`, key, messageBytesMax, timeoutMs }, events);
  }
  const { args = [], env, cwd } = options;
  const binary = options.binary ?? process.env.ISOLITH_BINARY ?? "isolith";
  return (events) => openChild({ binary, args, env, cwd, messageBytesMax }, events);
}
