import type { ToolContext } from "./tools.js";

/** A call that nobody has answered yet. Most functions never ask for a signal, so it is made when they do. */
export class OpenCall implements ToolContext {
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
