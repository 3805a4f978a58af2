import { Approvals } from "./approvals.js";
import type { ApprovalRequest, Approve } from "./approve.js";
import { AbortError, RequestError } from "./errors.js";
import { KeptAnswers } from "./kept.js";
import { OpenCall } from "./open.js";
import type { Outcome, Output } from "./outcome.js";
import type { Session } from "./session.js";
import { encodeAnswer, encodeFailure, type ToolFunction } from "./tools.js";
import { CALL_REFUSAL, type CallMessage, errorReply, HARMLESS_REFUSALS, SCOPE_REFUSAL, type ServerMessage } from "./wire.js";

/** Who wants to know what a run does while it runs. */
export interface RunWatcher {
  output?(output: Output): void;
  call?(call: { readonly call: number; readonly name: string; readonly args: unknown }): void;
  approval?(request: ApprovalRequest): void;
}

export interface LiveRunOptions {
  readonly id: string;
  /** The message that starts it. */
  readonly request: string;
  readonly functions: ReadonlyMap<string, ToolFunction>;
  readonly answerBytesMax: number;
  /** Who decides about calls that a grant asks about. */
  readonly approve: Approve | undefined;
  readonly watcher: RunWatcher | undefined;
  readonly signal: AbortSignal | undefined;
  /** Whether the server knows the run already. */
  readonly known: boolean;
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
  readonly #kept = new KeptAnswers();
  readonly #approvals: Approvals;
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
    const { approve, watcher } = options;
    this.#approvals = new Approvals({
      run: options.id,
      approve,
      keeps: session.keepsAnswers,
      watch: watcher?.approval?.bind(watcher),
      send: (text) => session.answer(text),
    });
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
      case "approval":
        return this.#approvals.receive(message.approval);
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
    this.#kept.mark();
    this.#approvals.mark();
  }

  /** The ping was answered: what came before it has arrived. */
  confirm(): void {
    this.#kept.confirm();
    this.#approvals.confirm();
  }

  #call(message: CallMessage): void {
    const { call, name } = message;
    if (this.#open.has(call)) return;
    if (this.#kept.has(call)) return this.#again(call);
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
    if (this.#session.keepsAnswers) this.#kept.keep(call, text);
    this.#session.answer(text);
  }

  /** The server asks for a call that was answered: it did not get the answer. */
  #again(call: number): void {
    // The tool is not called a second time, whatever happened: it may have had effects.
    const lost = () => errorReply(this.id, call, { name: "Error", message: "the answer was lost" });
    this.#session.answer(this.#kept.again(call, lost));
  }

  #refused(message: Extract<ServerMessage, { type: "error" }>): void {
    const { error, call } = message;
    if (HARMLESS_REFUSALS.has(error.code)) return;
    if (error.code === SCOPE_REFUSAL && this.#approvals.decided) return this.#mayNotDecide();
    if (!error.code.startsWith(CALL_REFUSAL)) return this.fail(new RequestError(error));
    // The answer cannot be used, but the program is still waiting for one.
    if (call !== undefined) this.#session.answer(errorReply(this.id, call, { name: "Error", message: error.message }));
  }

  /** Nobody will answer what the run asks, and it would wait for days. */
  #mayNotDecide(): void {
    this.cancel();
    const message = "the run asks before it goes on, and this client's key may not answer: it lacks the scope `approvals`";
    const hint = 'make a key with `isolith key create --scope runs,approvals`, or let others answer: `approve: "elsewhere"`';
    this.fail(new RequestError({ code: SCOPE_REFUSAL, message, hint }));
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
    this.#approvals.end();
    this.#session.end(this);
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as PromiseLike<unknown>).then === "function";
}
