import { AbortError, RequestError } from "./errors.js";
import type { Outcome, Output } from "./outcome.js";
import type { Session } from "./session.js";
import { encodeAnswer, encodeFailure, type ToolContext, type ToolFunction } from "./tools.js";
import { CALL_REFUSAL, type CallMessage, errorReply, HARMLESS_REFUSALS, type ServerMessage } from "./wire.js";

/** Who wants to know what a run does while it runs. */
export interface RunWatcher {
  output?(output: Output): void;
  call?(call: { readonly call: number; readonly name: string; readonly args: unknown }): void;
}

export interface LiveRunOptions {
  readonly id: string;
  /** The message that starts it. */
  readonly request: string;
  readonly functions: ReadonlyMap<string, ToolFunction>;
  readonly answerBytesMax: number;
  readonly watcher: RunWatcher | undefined;
  readonly signal: AbortSignal | undefined;
  /** Whether the server knows the run already. */
  readonly known: boolean;
}

/** An answer that was sent, and is kept because a lost connection may have lost it too. */
interface KeptAnswer {
  /** `undefined` once the server is known to have it. */
  text: string | undefined;
  marked: boolean;
}

/** One run from its request to its outcome. */
export class LiveRun {
  readonly id: string;
  readonly request: string;
  readonly outcome: Promise<Outcome>;
  /** Whether its request was sent. */
  introduced: boolean;
  /** Whether anything was heard of it. */
  seen: boolean;
  /** Whether it waits for the answer to an `attach`. */
  attaching = false;

  readonly #session: Session;
  readonly #options: LiveRunOptions;
  readonly #open = new Map<number, OpenCall>();
  readonly #kept = new Map<number, KeptAnswer>();
  #outputs = 0;
  #live = true;
  #over = false;
  #resolve: (outcome: Outcome) => void = () => {};
  #reject: (error: unknown) => void = () => {};

  constructor(session: Session, options: LiveRunOptions) {
    this.#session = session;
    this.#options = options;
    this.id = options.id;
    this.request = options.request;
    this.introduced = options.known;
    this.seen = options.known;
    this.outcome = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  start(): void {
    const { signal } = this.#options;
    if (signal?.aborted) return this.fail(new AbortError(signal.reason));
    signal?.addEventListener("abort", this.#abort, { once: true });
    try {
      this.#session.begin(this);
    } catch (thrown) {
      this.fail(thrown);
    }
  }

  receive(message: ServerMessage): void {
    this.seen = true;
    this.attaching = false;
    switch (message.type) {
      case "call":
        return this.#call(message);
      case "output":
        if (this.#live) this.#output({ stream: message.stream, text: message.text, at_ms: message.at_ms });
        return;
      case "outcome":
        return this.#end(message.outcome);
      case "error":
        return this.#refused(message);
    }
  }

  /** Ends it for its caller. The server is told by whoever calls this, if it has to be. */
  fail(error: unknown): void {
    if (this.#over) return;
    this.#finish();
    this.#reject(error);
  }

  /** Stops it. Its outcome comes as usual. */
  cancel(): void {
    if (!this.#over) this.#session.cancel(this);
  }

  /** The link was lost. Outputs may be missing from now on, so the rest of them is taken from the outcome. */
  interrupted(): void {
    this.#live = false;
  }

  /** Answers so far are followed by a ping. */
  mark(): void {
    for (const kept of this.#kept.values()) kept.marked = true;
  }

  /** The ping was answered: what came before it has arrived. */
  confirm(): void {
    for (const kept of this.#kept.values()) if (kept.marked) kept.text = undefined;
  }

  #call(message: CallMessage): void {
    const { call, name } = message;
    if (this.#open.has(call)) return;
    const kept = this.#kept.get(call);
    if (kept !== undefined) return this.#again(call, kept);
    const tool = this.#options.functions.get(name);
    const context = new OpenCall(this.id, call);
    this.#open.set(call, context);
    if (tool === undefined) {
      return this.#answer(call, errorReply(this.id, call, { name: "ReferenceError", message: `nobody brings the tool \`${name}\`` }));
    }
    let answer: unknown;
    try {
      this.#options.watcher?.call?.({ call, name, args: message.args });
      answer = tool(message.args, context);
    } catch (thrown) {
      return this.#answer(call, encodeFailure(this.id, call, thrown));
    }
    if (!isThenable(answer)) return this.#value(call, name, answer);
    Promise.resolve(answer).then(
      (value) => this.#value(call, name, value),
      (thrown) => this.#answer(call, encodeFailure(this.id, call, thrown)),
    );
  }

  #value(call: number, tool: string, value: unknown): void {
    if (this.#over) return;
    this.#answer(call, encodeAnswer(this.id, call, tool, value, this.#options.answerBytesMax));
  }

  #answer(call: number, text: string): void {
    if (this.#over) return;
    this.#open.delete(call);
    if (this.#session.keepsAnswers) this.#kept.set(call, { text, marked: false });
    this.#session.answer(text);
  }

  /** The server asks for a call that was answered: it did not get the answer. */
  #again(call: number, kept: KeptAnswer): void {
    // The tool is not called a second time, whatever happened: it may have had effects.
    kept.text ??= errorReply(this.id, call, { name: "Error", message: "the answer was lost" });
    kept.marked = false;
    this.#session.answer(kept.text);
  }

  #refused(message: Extract<ServerMessage, { type: "error" }>): void {
    const { error, call } = message;
    if (HARMLESS_REFUSALS.has(error.code)) return;
    if (!error.code.startsWith(CALL_REFUSAL)) return this.fail(new RequestError(error));
    // The answer cannot be used, but the program is still waiting for one.
    if (call !== undefined) this.#session.answer(errorReply(this.id, call, { name: "Error", message: error.message }));
  }

  #output(output: Output): void {
    this.#outputs++;
    try {
      this.#options.watcher?.output?.(output);
    } catch (thrown) {
      this.cancel();
      this.fail(thrown);
    }
  }

  #end(outcome: Outcome): void {
    if (this.#options.watcher?.output !== undefined && !this.#live) {
      for (const output of outcome.outputs.slice(this.#outputs)) this.#output(output);
    }
    if (this.#over) return;
    this.#finish();
    this.#resolve(outcome);
  }

  readonly #abort = (): void => {
    this.cancel();
    this.fail(new AbortError(this.#options.signal?.reason));
  };

  #finish(): void {
    this.#over = true;
    this.#options.signal?.removeEventListener("abort", this.#abort);
    for (const open of this.#open.values()) open.end();
    this.#session.end(this);
  }
}

/** A tool that has not answered yet. Most tools never ask for a signal, so it is made when they do. */
class OpenCall implements ToolContext {
  readonly run: string;
  readonly call: number;
  #controller: AbortController | undefined;
  #over = false;

  constructor(run: string, call: number) {
    this.run = run;
    this.call = call;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#over) this.#controller.abort();
    return this.#controller.signal;
  }

  end(): void {
    this.#over = true;
    this.#controller?.abort();
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as PromiseLike<unknown>).then === "function";
}
