import type { Verdict } from "./approve.js";
import type { Refusal } from "./errors.js";
import type { Approval, Outcome } from "./outcome.js";

/** What a server sends, one JSON text each. */
export type ServerMessage =
  | { readonly type: "hello"; readonly version: string }
  | { readonly type: "pong" }
  | {
      readonly type: "output";
      readonly run: string;
      readonly stream: "stdout" | "stderr";
      readonly text: string;
      readonly at_ms: number;
    }
  | CallMessage
  | { readonly type: "approval"; readonly run: string; readonly approval: Approval }
  | { readonly type: "outcome"; readonly run: string; readonly outcome: Outcome }
  | { readonly type: "error"; readonly run?: string; readonly call?: number; readonly error: Refusal };

export interface CallMessage {
  readonly type: "call";
  readonly run: string;
  readonly call: number;
  readonly name: string;
  readonly args?: unknown;
}

/**
 * Refusals that only say that a reply or a decision came twice or too late. After a lost connection, or where others decide
 * as well, that is as it should be.
 */
export const HARMLESS_REFUSALS: ReadonlySet<string> = new Set([
  "call.answered",
  "run.ended",
  "approval.answered",
  "approval.expired",
  "approval.unknown",
]);

/** The key is not for what was asked. */
export const SCOPE_REFUSAL = "key.scope";

/** Refusals of replies begin with this; others that name a run are about the run itself. */
export const CALL_REFUSAL = "call.";

/** A server reads no message that is longer, and gives the whole connection up if one comes. */
export const SENT_BYTES_MAX = 24 << 20;

// Run names are letters, digits, `_` and `-` only, so they need no escaping.

export function cancelMessage(run: string): string {
  return `{"type":"cancel","run":"${run}"}`;
}

export function attachMessage(run: string): string {
  return `{"type":"attach","run":"${run}"}`;
}

export function approveMessage(run: string, call: number, verdict: Verdict): string {
  return JSON.stringify({ type: "approve", run, call, ...verdict });
}

export const PING_MESSAGE = '{"type":"ping"}';

/** `value` is JSON text already; without it the answer is `undefined`. */
export function valueReply(run: string, call: number, value: string | undefined): string {
  if (value === undefined) return `{"type":"reply","run":"${run}","call":${call}}`;
  return `{"type":"reply","run":"${run}","call":${call},"value":${value}}`;
}

/** Servers refuse an error that is longer than this, and nobody would read it. */
const ERROR_NAME_CHARS_MAX = 200;
const ERROR_MESSAGE_CHARS_MAX = 16_000;

export function errorReply(run: string, call: number, error: { name: string; message: string }): string {
  const name = error.name.slice(0, ERROR_NAME_CHARS_MAX);
  const message = error.message.slice(0, ERROR_MESSAGE_CHARS_MAX);
  return `{"type":"reply","run":"${run}","call":${call},"error":${JSON.stringify({ name, message })}}`;
}
