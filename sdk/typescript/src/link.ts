import type { ConnectionError } from "./errors.js";

/** What a link tells its owner. After `lost` nothing more comes. */
export interface LinkEvents {
  /** One message of the server, as JSON text. */
  message(text: string): void;
  /** After `send` said `false`: there is room again. */
  drain(): void;
  lost(error: ConnectionError): void;
}

/** A way to a server: its messages come one by one and in order. */
export interface Link {
  /** Sends messages in order. `false` asks to wait for `drain` before more is sent. */
  send(messages: readonly string[]): boolean;
  /** Whether the link keeps this process alive. */
  hold(held: boolean): void;
  close(): Promise<void>;
}

/** Opens a link. It rejects with a `ConnectionError`, or a `RequestError` if the server refuses. */
export type OpenLink = (events: LinkEvents) => Promise<Link>;
