import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { type Backoff, delayBefore } from "./backoff.js";
import { ClosedError, ConnectionError, IsolithError, ProtocolError, type Refusal, RequestError } from "./errors.js";
import { Greeting } from "./greeting.js";
import type { Link, OpenLink } from "./link.js";
import type { LiveRun } from "./run.js";
import { attachMessage, cancelMessage, PING_MESSAGE, type ServerMessage } from "./wire.js";

export interface SessionOptions {
  readonly open: OpenLink;
  /** Whether a run goes on when its link is lost, and can be attached to by the next one. */
  readonly runsOutliveLinks: boolean;
  readonly backoff: Backoff;
  /** How long a server may take to say hello. */
  readonly helloMs: number;
  /** How often a quiet link with runs on it is asked for a sign of life. */
  readonly pingMs: number;
}

/** Answers are kept while their run lasts. When they are more than this, those that have arrived are given up. */
const KEPT_CHARS_MAX = 16 << 20;

/** All runs of one client over one link, which is opened when first needed and again when it was lost. */
export class Session {
  readonly #options: SessionOptions;
  readonly #runs = new Map<string, LiveRun>();
  #link: Link | undefined;
  #opening: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  readonly #stop = new AbortController();
  #outbox: string[] = [];
  /** Runs that were given up while there was no link. */
  #toCancel: string[] = [];
  #flowing = true;
  #flushing = false;
  #held = false;
  /** The size of the answers since the last ping that asked for their arrival. */
  #unconfirmed = 0;
  /** Pings that are not answered yet, oldest first: whether each asked for the arrival of answers. */
  #pings: boolean[] = [];
  #heard = true;
  #pinger: NodeJS.Timeout | undefined;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  /** Whether answers have to be kept for the case that the link is lost. */
  get keepsAnswers(): boolean {
    return this.#options.runsOutliveLinks;
  }

  begin(run: LiveRun): void {
    if (this.#closing !== undefined) throw new ClosedError();
    this.#runs.set(run.id, run);
    this.#hold();
    if (this.#link !== undefined) this.#introduce(run);
    else this.#opening ??= this.#connect();
  }

  /** Forgets a run. What still comes for it is ignored. */
  end(run: LiveRun): void {
    this.#runs.delete(run.id);
    this.#hold();
  }

  cancel(run: LiveRun): void {
    if (this.#link !== undefined) this.#send(cancelMessage(run.id));
    else if (run.introduced && this.#options.runsOutliveLinks) this.#toCancel.push(run.id);
  }

  answer(text: string): void {
    // Without a link there is nothing to do: the run keeps the answer, and the call comes again.
    if (this.#link === undefined) return;
    this.#send(text);
    this.#unconfirmed += text.length;
    if (this.#unconfirmed > KEPT_CHARS_MAX && this.keepsAnswers) this.#ping(true);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    for (const run of this.#runs.values()) {
      this.cancel(run);
      run.fail(new ClosedError());
    }
    this.#runs.clear();
    this.#stop.abort();
    this.#flush();
    await this.#opening;
    await this.#link?.close();
    this.#drop();
  }

  async #connect(): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      try {
        this.#link = await this.#greet();
        break;
      } catch (thrown) {
        const error =
          thrown instanceof IsolithError ? thrown : new ConnectionError("connection.failed", "no connection", { cause: thrown });
        // Runs that a server knows of go on without us, and are worth some patience.
        const patient = error instanceof ConnectionError && [...this.#runs.values()].some((run) => run.introduced);
        const delay = patient ? delayBefore(attempt, this.#options.backoff) : undefined;
        if (delay === undefined) {
          this.#opening = undefined;
          for (const run of [...this.#runs.values()]) run.fail(error);
          return;
        }
        // Closing cuts the wait short; the next attempt is the last then.
        await sleep(delay, undefined, { signal: this.#stop.signal }).catch(() => {});
      }
    }
    this.#opening = undefined;
    this.#link.hold(this.#held);
    this.#heard = true;
    this.#watch();
    for (const run of this.#runs.values()) this.#introduce(run);
    for (const id of this.#toCancel.splice(0)) this.#send(cancelMessage(id));
  }

  /** Opens a link and waits for the server's hello. */
  async #greet(): Promise<Link> {
    let link: Link | undefined;
    let gone: ConnectionError | undefined;
    const hello = new Greeting();
    link = await this.#options.open({
      message: (text) => {
        const message = parse(text);
        if (message === undefined) this.#garbled(text, link, hello);
        else if (link !== undefined && link === this.#link) this.#receive(message);
        else hello.receive(message);
      },
      drain: () => {
        this.#flowing = true;
        this.#flush();
      },
      lost: (error) => {
        gone = error;
        hello.reject(error);
        if (link !== undefined && link === this.#link) this.#lost(error);
      },
    });
    const slow = setTimeout(
      () => hello.reject(new ProtocolError("connection.silent", "the server did not say hello")),
      this.#options.helloMs,
    );
    try {
      await hello.heard;
      if (gone !== undefined) throw gone;
    } catch (thrown) {
      void link.close();
      throw thrown;
    } finally {
      clearTimeout(slow);
    }
    return link;
  }

  #garbled(text: string, link: Link | undefined, hello: Greeting): void {
    const error = new ProtocolError("protocol.garbled", `the server sent something that is not JSON: ${text.slice(0, 80)}`);
    hello.reject(error);
    if (link === undefined || link !== this.#link) return;
    void link.close();
    this.#lost(error);
  }

  #introduce(run: LiveRun): void {
    if (run.introduced) {
      run.attaching = true;
      this.#send(attachMessage(run.id));
    } else {
      run.introduced = true;
      this.#send(run.request);
    }
  }

  #receive(message: ServerMessage): void {
    this.#heard = true;
    if (message.type === "pong") return this.#confirm();
    if (message.type === "hello") return;
    if (message.type === "error" && message.run === undefined) return this.#unnamed(message.error);
    if (message.run === undefined) return;
    const run = this.#runs.get(message.run);
    if (run === undefined) return;
    if (message.type === "error" && run.attaching && !run.seen) {
      // The server never heard of it: the link was lost before the request arrived.
      run.attaching = false;
      this.#send(run.request);
      return;
    }
    run.receive(message);
  }

  /** A refusal that names no run. It can only be for one of which nothing was heard, and often there is just one. */
  #unnamed(refusal: Refusal): void {
    const [only, ...others] = [...this.#runs.values()].filter((run) => run.introduced && !run.seen);
    if (only !== undefined && others.length === 0) only.fail(new RequestError(refusal));
  }

  #lost(error: ConnectionError): void {
    this.#drop();
    if (!this.#options.runsOutliveLinks) {
      for (const run of [...this.#runs.values()]) run.fail(error);
      return;
    }
    for (const run of this.#runs.values()) run.interrupted();
    if (this.#runs.size > 0) this.#opening ??= this.#connect();
  }

  #drop(): void {
    this.#link = undefined;
    this.#outbox = [];
    this.#flowing = true;
    this.#pings = [];
    this.#unconfirmed = 0;
    this.#watch();
  }

  #send(text: string): void {
    this.#outbox.push(text);
    if (this.#flushing || !this.#flowing) return;
    this.#flushing = true;
    // A tick lets everything that is sent by the promises of this turn leave in one write.
    process.nextTick(this.#flush);
  }

  readonly #flush = (): void => {
    this.#flushing = false;
    if (this.#outbox.length === 0 || !this.#flowing || this.#link === undefined) return;
    const messages = this.#outbox;
    this.#outbox = [];
    this.#flowing = this.#link.send(messages);
  };

  #ping(forAnswers: boolean): void {
    this.#pings.push(forAnswers);
    if (forAnswers) {
      this.#unconfirmed = 0;
      for (const run of this.#runs.values()) run.mark();
    }
    this.#send(PING_MESSAGE);
  }

  /** A server reads in order: with the pong, everything before the ping has arrived. */
  #confirm(): void {
    if (this.#pings.shift() !== true) return;
    for (const run of this.#runs.values()) run.confirm();
  }

  #hold(): void {
    const held = this.#runs.size > 0;
    if (held === this.#held) return;
    this.#held = held;
    this.#link?.hold(held);
    this.#watch();
  }

  /** A link that says nothing for two pings, with runs on it, is taken for lost. */
  #watch(): void {
    const watched = this.#held && this.#link !== undefined && this.#options.runsOutliveLinks;
    if (!watched) {
      clearInterval(this.#pinger);
      this.#pinger = undefined;
      return;
    }
    this.#pinger ??= setInterval(() => {
      const link = this.#link;
      if (link === undefined) return;
      if (!this.#heard) {
        void link.close();
        this.#lost(new ConnectionError("connection.silent", "the server does not answer any more"));
        return;
      }
      this.#heard = false;
      this.#ping(false);
    }, this.#options.pingMs);
  }
}

function parse(text: string): ServerMessage | undefined {
  try {
    return JSON.parse(text) as ServerMessage;
  } catch {
    return undefined;
  }
}
