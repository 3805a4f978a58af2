import type { Refusal } from "./errors.js";
import type { Outcome } from "./outcome.js";

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
  | { readonly type: "outcome"; readonly run: string; readonly outcome: Outcome }
  | { readonly type: "error"; readonly run?: string; readonly call?: number; readonly error: Refusal };

export interface CallMessage {
  readonly type: "call";
  readonly run: string;
  readonly call: number;
  readonly name: string;
  readonly args?: unknown;
}

/** The code of a refusal that only says that a reply came twice, as it does after a lost connection. */
export const CALL_ANSWERED = "call.answered";

/** Refusals of replies begin with this; others that name a run are about the run itself. */
export const CALL_REFUSAL = "call.";

// Run names are letters, digits, `_` and `-` only, so they need no escaping.

export function cancelMessage(run: string): string {
  return `{"type":"cancel","run":"${run}"}`;
}

export function attachMessage(run: string): string {
  return `{"type":"attach","run":"${run}"}`;
}

export const PING_MESSAGE = '{"type":"ping"}';

/** `value` is JSON text already; without it the answer is `undefined`. */
export function valueReply(run: string, call: number, value: string | undefined): string {
  if (value === undefined) return `{"type":"reply","run":"${run}","call":${call}}`;
  return `{"type":"reply","run":"${run}","call":${call},"value":${value}}`;
}

export function errorReply(run: string, call: number, error: { name: string; message: string }): string {
  return `{"type":"reply","run":"${run}","call":${call},"error":${JSON.stringify(error)}}`;
}
