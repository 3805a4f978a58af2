import { Buffer } from "node:buffer";
import { approveMessage, SENT_BYTES_MAX } from "./wire.js";

/** A call that is made only if someone agrees. */
export interface ApprovalRequest {
  /** The run that wants to make it. */
  readonly run: string;
  /** Which of the run's calls it is. */
  readonly call: number;
  /** The grant that asks: `ask tool:mail`. */
  readonly grant: string;
  /** What is to be done, in words: ``the tool `mail` ``, `POST https://api.example.com/v1/orders`. */
  readonly what: string;
  /** What a tool or a program is to be called with; `undefined` for everything else. */
  readonly args: unknown;
}

/** What a yes is good for: this call, all that the same grant asks about in this run, or also in later runs of this very program. */
export type Consent = "once" | "run" | "always";

/** Yes or no, in short or with details. `args` are what to call it with instead; the program sees the `reason`. */
export type ApprovalDecision =
  | boolean
  | "approve"
  | "deny"
  | { readonly decision: "approve"; readonly consent?: Consent; readonly args?: unknown }
  | { readonly decision: "deny"; readonly reason?: string };

export interface ApprovalContext {
  /** Aborted when the run ends before there is a decision. */
  readonly signal: AbortSignal;
}

/** Decides about one call. What it throws is a no, with the message as the reason. */
export type ApprovalHandler = (request: ApprovalRequest, context: ApprovalContext) => ApprovalDecision | PromiseLike<ApprovalDecision>;

/** Who decides: a function of yours, or whoever answers by `isolith approvals` or HTTP. */
export type Approve = ApprovalHandler | "elsewhere";

/** What a server reads of a decision. */
export interface Verdict {
  readonly decision: "approve" | "deny";
  readonly consent?: Consent;
  readonly args?: unknown;
  readonly reason?: string;
}

/** Servers take no longer reason. */
const REASON_CHARS_MAX = 1000;
const CONSENTS: readonly unknown[] = ["once", "run", "always"] satisfies Consent[];

/** The message for a decision. Whatever is no proper decision is a no: nothing is done that nobody clearly agreed to. */
export function encodeDecision(request: ApprovalRequest, decided: unknown): string {
  const verdict = verdictOf(request, decided);
  if (typeof verdict !== "string") {
    const message = approveMessage(request.run, request.call, verdict);
    if (message.length * 3 <= SENT_BYTES_MAX || Buffer.byteLength(message) <= SENT_BYTES_MAX) return message;
  }
  const why = typeof verdict === "string" ? verdict : "its `args` are too large";
  return encodeDenial(request, `the decision of \`approve\` cannot be used: ${why}`);
}

/** The message for a no. */
export function encodeDenial(request: ApprovalRequest, reason: string): string {
  return approveMessage(request.run, request.call, denial(reason));
}

/** What was decided, or what is wrong with it. */
function verdictOf(request: ApprovalRequest, decided: unknown): Verdict | string {
  if (decided === true || decided === "approve") return { decision: "approve" };
  if (decided === false || decided === "deny") return { decision: "deny" };
  if (typeof decided !== "object" || decided === null) return "it is neither a yes nor a no";
  const { decision, consent, args, reason } = decided as Record<keyof Verdict, unknown>;
  if (decision === "deny") return denial(reason === undefined ? undefined : String(reason));
  if (decision !== "approve") return "it is neither a yes nor a no";
  if (consent !== undefined && !CONSENTS.includes(consent)) return "`consent` is `once`, `run` or `always`";
  const good = consent === undefined ? {} : { consent: consent as Consent };
  if (args === undefined) return { decision, ...good };
  if (request.args === undefined) return `${request.what} has no arguments that could be changed`;
  if (consent !== undefined && consent !== "once") return "changed arguments are good for this call only";
  if (!hasJson(args)) return "its `args` have no JSON form";
  return { decision, args };
}

/** What has no JSON form would be left out of the message, which then agreed to something else. */
export function hasJson(args: unknown): boolean {
  try {
    return JSON.stringify(args) !== undefined;
  } catch {
    return false;
  }
}

function denial(reason: string | undefined): Verdict {
  if (reason === undefined || reason === "") return { decision: "deny" };
  // By characters, so that none is cut in half; halves that were there before no server reads.
  const whole = reason.slice(0, 2 * REASON_CHARS_MAX).replace(/\p{Surrogate}/gu, "\ufffd");
  return { decision: "deny", reason: [...whole].slice(0, REASON_CHARS_MAX).join("") };
}
