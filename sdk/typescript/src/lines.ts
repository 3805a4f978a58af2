import { Buffer } from "node:buffer";

const NEWLINE = 10;

/** Cuts a stream of bytes into lines of text. A line that is too long is reported, not collected. */
export class Lines {
  readonly #bytesMax: number;
  readonly #line: (text: string) => void;
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(bytesMax: number, line: (text: string) => void) {
    this.#bytesMax = bytesMax;
    this.#line = line;
  }

  /** `false` once a line was longer than it may be. */
  push(chunk: Buffer): boolean {
    let start = 0;
    let end = chunk.indexOf(NEWLINE);
    while (end !== -1) {
      if (this.#bytes === 0) {
        this.#line(chunk.toString("utf8", start, end));
      } else {
        this.#parts.push(chunk.subarray(start, end));
        this.#flush();
      }
      start = end + 1;
      end = chunk.indexOf(NEWLINE, start);
    }
    if (start < chunk.length) {
      this.#parts.push(chunk.subarray(start));
      this.#bytes += chunk.length - start;
    }
    return this.#bytes <= this.#bytesMax;
  }

  #flush(): void {
    // Bytes are joined before they are decoded: a character may be cut in two by the end of a chunk.
    const whole = concat(this.#parts);
    this.#parts = [];
    this.#bytes = 0;
    this.#line(whole.toString("utf8"));
  }
}

function concat(parts: Buffer[]): Buffer {
  const [first] = parts;
  if (parts.length === 1 && first !== undefined) return first;
  return Buffer.concat(parts);
}
