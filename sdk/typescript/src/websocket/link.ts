import { Buffer } from "node:buffer";
import type { Socket } from "node:net";
import { ConnectionError } from "../errors.js";
import type { Link, LinkEvents } from "../link.js";
import { CloseCode, encodeFrame, FrameError, FrameReader, Opcode } from "./frames.js";
import { type HandshakeOptions, upgrade } from "./handshake.js";

export interface WebSocketOptions extends HandshakeOptions {
  readonly messageBytesMax: number;
}

/** How long a server may take to answer a close. */
const CLOSE_GRACE_MS = 1000;

/** Connects to a server's socket. */
export async function openWebSocket(options: WebSocketOptions, events: LinkEvents): Promise<Link> {
  const { socket, rest } = await upgrade(options);
  return new WebSocketLink(socket, rest, options.messageBytesMax, events);
}

class WebSocketLink implements Link {
  readonly #socket: Socket;
  readonly #events: LinkEvents;
  readonly #closed: Promise<void>;
  #over = false;

  constructor(socket: Socket, rest: Buffer, messageBytesMax: number, events: LinkEvents) {
    this.#socket = socket;
    this.#events = events;
    const reader = new FrameReader(messageBytesMax, {
      text: events.message,
      ping: (payload) => socket.write(encodeFrame(Opcode.pong, payload)),
      close: (code, reason) => this.#lose(closedBy(code, reason), CloseCode.normal),
    });
    const read = (chunk: Buffer) => {
      if (this.#over) return;
      try {
        reader.push(chunk);
      } catch (thrown) {
        if (!(thrown instanceof FrameError)) throw thrown;
        this.#lose(new ConnectionError("protocol.frame", `the server sent ${thrown.message}`), thrown.closeCode);
      }
    };
    socket.on("data", read);
    // The handshake's listener is gone, and with it, in some runtimes, the flow.
    socket.resume();
    socket.on("drain", events.drain);
    socket.on("error", (cause) => this.#lose(new ConnectionError("connection.lost", cause.message, { cause })));
    this.#closed = new Promise((done) => {
      socket.once("close", () => {
        this.#lose(new ConnectionError("connection.lost", "the server closed the connection"));
        done();
      });
    });
    // What came with the handshake is read after the caller has its link.
    if (rest.length > 0) queueMicrotask(() => read(rest));
  }

  send(messages: readonly string[]): boolean {
    const frames = messages.map((text) => encodeFrame(Opcode.text, Buffer.from(text, "utf8")));
    return this.#socket.write(frames.length === 1 ? (frames[0] as Buffer) : Buffer.concat(frames));
  }

  hold(held: boolean): void {
    if (held) this.#socket.ref();
    else this.#socket.unref();
  }

  async close(): Promise<void> {
    this.#over = true;
    this.hold(true);
    this.#socket.end(closeFrame(CloseCode.normal));
    const timer = setTimeout(() => this.#socket.destroy(), CLOSE_GRACE_MS);
    await this.#closed;
    clearTimeout(timer);
  }

  #lose(error: ConnectionError, closeCode?: number): void {
    if (this.#over) return;
    this.#over = true;
    if (closeCode !== undefined && this.#socket.writable) this.#socket.end(closeFrame(closeCode));
    this.#socket.destroySoon();
    this.#events.lost(error);
  }
}

function closeFrame(code: number): Buffer {
  const payload = Buffer.alloc(2);
  payload.writeUInt16BE(code);
  return encodeFrame(Opcode.close, payload);
}

function closedBy(code: number, reason: string): ConnectionError {
  const said = reason === "" ? "" : `: ${reason}`;
  return new ConnectionError("connection.closed", `the server closed the connection (${code})${said}`);
}
