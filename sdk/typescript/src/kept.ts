/** An answer that was sent, and is kept because a lost connection may have lost it too. */
interface Kept {
  /** `undefined` once the server is known to have it. */
  text: string | undefined;
  marked: boolean;
}

/** The answers to calls of one run, as they were sent. */
export class KeptAnswers {
  readonly #kept = new Map<number, Kept>();

  get size(): number {
    return this.#kept.size;
  }

  has(call: number): boolean {
    return this.#kept.has(call);
  }

  keep(call: number, text: string | undefined): void {
    this.#kept.set(call, { text, marked: false });
  }

  /** What to send once more; `lost` is what to say if the answer was given up. */
  again(call: number, lost: () => string): string {
    const kept = this.#kept.get(call);
    const text = kept?.text ?? lost();
    this.keep(call, text);
    return text;
  }

  /** Answers so far are followed by a ping. */
  mark(): void {
    for (const kept of this.#kept.values()) kept.marked = true;
  }

  /** The ping was answered: what came before it has arrived. */
  confirm(): void {
    for (const kept of this.#kept.values()) if (kept.marked) kept.text = undefined;
  }
}
