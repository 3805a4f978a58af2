import { ConnectionError } from "./errors.js";
import type { ServerMessage } from "./wire.js";

/** The server's first word. */
export class Greeting {
  readonly heard: Promise<void>;
  #resolve: () => void = () => {};
  reject: (error: ConnectionError) => void = () => {};

  constructor() {
    this.heard = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.reject = reject;
    });
    // It may fail before anyone waits for it.
    this.heard.catch(() => {});
  }

  receive(message: ServerMessage): void {
    if (message.type === "hello") this.#resolve();
    if (message.type !== "error") return;
    const { code, message: text, hint } = message.error;
    this.reject(new ConnectionError(code, text, { hint }));
  }
}
