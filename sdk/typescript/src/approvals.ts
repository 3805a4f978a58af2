import { type ApprovalRequest, type Approve, encodeDecision, encodeDenial } from "./approve.js";
import { describeThrown } from "./errors.js";
import { KeptAnswers } from "./kept.js";
import { OpenCall } from "./open.js";
import type { Approval } from "./outcome.js";

export interface ApprovalsOptions {
  readonly run: string;
  readonly approve: Approve | undefined;
  /** Whether decisions have to be kept for the case that the link is lost. */
  readonly keeps: boolean;
  /** Told of each question once. */
  readonly watch: ((request: ApprovalRequest) => void) | undefined;
  readonly send: (text: string) => void;
}

const NOBODY =
  'nobody is there to be asked: the client has no option `approve`; `approve: "elsewhere"` waits for `isolith approvals` or HTTP';
const LOST = "the decision was lost with a connection";

/** What one run asks about before it goes on: each question is put once, however often it comes. */
export class Approvals {
  readonly #options: ApprovalsOptions;
  readonly #open = new Map<number, OpenCall>();
  readonly #decided = new KeptAnswers();
  #over = false;

  constructor(options: ApprovalsOptions) {
    this.#options = options;
  }

  /** Whether anything was decided here. */
  get decided(): boolean {
    return this.#decided.size > 0;
  }

  receive({ id: call, grant, what, args }: Approval): void {
    if (this.#open.has(call)) return;
    if (this.#decided.has(call)) return this.#again(call);
    const { run, approve, watch } = this.#options;
    const request = { run, call, grant, what, args };
    const open = new OpenCall(run, call);
    this.#open.set(call, open);
    watch?.(request);
    // It stays open: whoever answers is not here.
    if (approve === "elsewhere") return;
    if (approve === undefined) return this.#decide(call, encodeDenial(request, NOBODY));
    const asking = (async () => encodeDecision(request, await approve(request, open)))();
    asking.then(
      (text) => this.#decide(call, text),
      (thrown) => this.#decide(call, encodeDenial(request, describeThrown(thrown).message)),
    );
  }

  mark(): void {
    this.#decided.mark();
  }

  confirm(): void {
    this.#decided.confirm();
  }

  /** The run is over: nobody needs to decide any more. */
  end(): void {
    this.#over = true;
    for (const open of this.#open.values()) open.end();
  }

  #decide(call: number, text: string): void {
    if (this.#over) return;
    this.#open.delete(call);
    this.#decided.keep(call, this.#options.keeps ? text : undefined);
    this.#options.send(text);
  }

  /** The server asks again: it did not get the decision, or not yet. Where no link is lost, it is on its way. */
  #again(call: number): void {
    if (!this.#options.keeps) return;
    const { run } = this.#options;
    const lost = () => encodeDenial({ run, call, grant: "", what: "", args: undefined }, LOST);
    this.#options.send(this.#decided.again(call, lost));
  }
}
