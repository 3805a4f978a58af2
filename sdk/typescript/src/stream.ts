import type { ApprovalRequest } from "./approve.js";
import type { Outcome, Output } from "./outcome.js";
import type { LiveRun, RunWatcher } from "./run.js";

/** What happens in a run. */
export type RunEvent<T = unknown> =
  | ({ readonly type: "output" } & Output)
  | { readonly type: "call"; readonly call: number; readonly name: string; readonly args: unknown }
  | ({ readonly type: "approval" } & ApprovalRequest)
  | { readonly type: "outcome"; readonly outcome: Outcome<T> };

/** The events of one run, and its outcome. It is read once. */
export class RunStream<T = unknown> implements AsyncIterable<RunEvent<T>> {
  /** How it ended, for callers that do not read the events to their end. */
  readonly outcome: Promise<Outcome<T>>;
  readonly #run: LiveRun;
  #events: RunEvent<T>[] = [];
  #wake: () => void = () => {};
  #over = false;

  constructor(start: (watcher: RunWatcher) => LiveRun, onOutput: ((output: Output) => void) | undefined) {
    this.#run = start({
      output: (output) => {
        onOutput?.(output);
        this.#push({ type: "output", ...output });
      },
      call: (call) => this.#push({ type: "call", ...call }),
      approval: (request) => this.#push({ type: "approval", ...request }),
    });
    this.outcome = this.#run.outcome as Promise<Outcome<T>>;
    const end = () => {
      this.#over = true;
      this.#wake();
    };
    this.outcome.then(end, end);
  }

  /** The run's name. */
  get run(): string {
    return this.#run.id;
  }

  /** Stops the run; its outcome comes as usual. */
  cancel(): void {
    this.#run.cancel();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<RunEvent<T>, void, void> {
    try {
      while (true) {
        const events = this.#events;
        this.#events = [];
        yield* events;
        if (this.#events.length > 0) continue;
        if (this.#over) break;
        await new Promise<void>((wake) => {
          this.#wake = wake;
        });
      }
      yield { type: "outcome", outcome: await this.outcome };
    } finally {
      this.cancel();
    }
  }

  #push(event: RunEvent<T>): void {
    this.#events.push(event);
    this.#wake();
  }
}
