import { Buffer } from "node:buffer";
import { randomFillSync } from "node:crypto";

/** The kinds of frames of RFC 6455. */
export const Opcode = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

/** Close codes that we send. */
export const CloseCode = { normal: 1000, protocol: 1002, unsupported: 1003, badText: 1007, tooLarge: 1009 } as const;

const FIN = 0x80;
const MASKED = 0x80;
const CONTROL_BYTES_MAX = 125;

/** Masks must be unpredictable; they are drawn many at a time because each draw is a system call. */
const masks = Buffer.alloc(4096);
let masksUsed = masks.length;

/** One whole, masked frame, as clients have to send it. */
export function encodeFrame(opcode: number, payload: Buffer): Buffer {
  const size = payload.length;
  const header = size < 126 ? 2 : size < 65536 ? 4 : 10;
  const frame = Buffer.allocUnsafe(header + 4 + size);
  frame[0] = FIN | opcode;
  if (header === 2) {
    frame[1] = MASKED | size;
  } else if (header === 4) {
    frame[1] = MASKED | 126;
    frame.writeUInt16BE(size, 2);
  } else {
    frame[1] = MASKED | 127;
    frame.writeBigUInt64BE(BigInt(size), 2);
  }
  const mask = nextMask();
  mask.copy(frame, header);
  const start = header + 4;
  for (let i = 0; i < size; i++) frame[start + i] = (payload[i] as number) ^ (mask[i & 3] as number);
  return frame;
}

function nextMask(): Buffer {
  if (masksUsed === masks.length) {
    randomFillSync(masks);
    masksUsed = 0;
  }
  masksUsed += 4;
  return masks.subarray(masksUsed - 4, masksUsed);
}

/** A peer that does not keep to the protocol, or says too much. */
export class FrameError extends Error {
  readonly closeCode: number;
  constructor(closeCode: number, message: string) {
    super(message);
    this.closeCode = closeCode;
  }
}

export interface FrameEvents {
  text(text: string): void;
  ping(payload: Buffer): void;
  close(code: number, reason: string): void;
}

/** Puts messages together from the bytes of a server. `push` throws a `FrameError` at the first thing that is wrong. */
export class FrameReader {
  readonly #bytesMax: number;
  readonly #events: FrameEvents;
  readonly #decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  #chunks: Buffer[] = [];
  #available = 0;
  /** The parts of a message whose end has not come, `undefined` outside of one. */
  #parts: Buffer[] | undefined;
  #partsBytes = 0;

  constructor(bytesMax: number, events: FrameEvents) {
    this.#bytesMax = bytesMax;
    this.#events = events;
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#available += chunk.length;
    while (this.#frame());
  }

  /** Takes one frame, if there is a whole one. */
  #frame(): boolean {
    if (this.#available < 2) return false;
    const head = this.#peek(Math.min(10, this.#available));
    const first = head[0] as number;
    const second = head[1] as number;
    if ((first & 0x70) !== 0) throw protocol("a reserved bit is set");
    if ((second & MASKED) !== 0) throw protocol("a server's frame is masked");
    const size = frameSize(second & 0x7f, head);
    if (size === undefined) return false;
    const opcode = first & 0x0f;
    const fin = (first & FIN) !== 0;
    if (opcode >= 8 && (!fin || size.payload > CONTROL_BYTES_MAX)) throw protocol("a control frame is fragmented or too large");
    // The size is refused by what it says, before anything is collected for it.
    if (opcode < 8 && size.payload + this.#partsBytes > this.#bytesMax) {
      throw new FrameError(CloseCode.tooLarge, `a message of more than ${this.#bytesMax} bytes`);
    }
    if (this.#available < size.header + size.payload) return false;
    this.#take(size.header);
    const payload = this.#take(size.payload);
    if (opcode >= 8) this.#control(opcode, payload);
    else this.#data(opcode, fin, payload);
    return true;
  }

  #data(opcode: number, fin: boolean, payload: Buffer): void {
    if (opcode === Opcode.binary) throw new FrameError(CloseCode.unsupported, "a binary message");
    if (opcode !== Opcode.text && opcode !== Opcode.continuation) throw protocol("an unknown kind of frame");
    if ((opcode === Opcode.continuation) !== (this.#parts !== undefined)) throw protocol("a message is cut up wrongly");
    if (fin && this.#parts === undefined) return this.#events.text(this.#decode(payload));
    this.#parts ??= [];
    this.#parts.push(payload);
    this.#partsBytes += payload.length;
    if (!fin) return;
    const whole = Buffer.concat(this.#parts);
    this.#parts = undefined;
    this.#partsBytes = 0;
    this.#events.text(this.#decode(whole));
  }

  #control(opcode: number, payload: Buffer): void {
    if (opcode === Opcode.ping) return this.#events.ping(payload);
    if (opcode === Opcode.pong) return;
    if (opcode !== Opcode.close) throw protocol("an unknown kind of control frame");
    if (payload.length === 1) throw protocol("half a close code");
    const code = payload.length >= 2 ? payload.readUInt16BE(0) : CloseCode.normal;
    this.#events.close(code, this.#decode(payload.subarray(2)));
  }

  #decode(bytes: Buffer): string {
    try {
      return this.#decoder.decode(bytes);
    } catch {
      throw new FrameError(CloseCode.badText, "a text that is not UTF-8");
    }
  }

  #peek(bytes: number): Buffer {
    const [first] = this.#chunks;
    if (first !== undefined && first.length >= bytes) return first;
    this.#chunks = [Buffer.concat(this.#chunks)];
    return this.#chunks[0] as Buffer;
  }

  #take(bytes: number): Buffer {
    if (bytes === 0) return Buffer.alloc(0);
    const whole = this.#peek(bytes);
    this.#available -= bytes;
    if (whole.length === bytes) this.#chunks.shift();
    else this.#chunks[0] = whole.subarray(bytes);
    return whole.subarray(0, bytes);
  }
}

function frameSize(short: number, head: Buffer): { header: number; payload: number } | undefined {
  if (short < 126) return { header: 2, payload: short };
  if (short === 126) return head.length < 4 ? undefined : { header: 4, payload: head.readUInt16BE(2) };
  if (head.length < 10) return undefined;
  const size = head.readBigUInt64BE(2);
  if (size > BigInt(Number.MAX_SAFE_INTEGER)) throw new FrameError(CloseCode.tooLarge, "an absurd size");
  return { header: 10, payload: Number(size) };
}

function protocol(message: string): FrameError {
  return new FrameError(CloseCode.protocol, message);
}
