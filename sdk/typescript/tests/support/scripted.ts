import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { Duplex } from "node:stream";

/** One connection to the scripted server: raw bytes out, decoded texts in. */
export class Peer {
  readonly request: IncomingMessage;
  readonly texts: string[] = [];
  readonly opcodes: number[] = [];
  readonly #socket: Duplex;
  #buffer = Buffer.alloc(0);
  onText: (message: Record<string, unknown>) => void = () => {};

  constructor(request: IncomingMessage, socket: Duplex) {
    this.request = request;
    this.#socket = socket;
    socket.on("error", () => {});
    socket.on("data", (chunk: Buffer) => this.#read(chunk));
  }

  say(message: unknown): void {
    this.raw(frame(1, JSON.stringify(message)));
  }

  raw(bytes: Buffer): void {
    this.#socket.write(bytes);
  }

  cut(): void {
    this.#socket.destroy();
  }

  #read(chunk: Buffer): void {
    this.#buffer = Buffer.concat([this.#buffer, chunk]);
    while (this.#buffer.length >= 6) {
      const short = (this.#buffer[1] as number) & 0x7f;
      const header = short < 126 ? 2 : short === 126 ? 4 : 10;
      const size = short < 126 ? short : short === 126 ? this.#buffer.readUInt16BE(2) : Number(this.#buffer.readBigUInt64BE(2));
      if (this.#buffer.length < header + 4 + size) return;
      const mask = this.#buffer.subarray(header, header + 4);
      const payload = Buffer.from(this.#buffer.subarray(header + 4, header + 4 + size)).map((byte, i) => byte ^ (mask[i % 4] as number));
      const opcode = (this.#buffer[0] as number) & 0x0f;
      this.#buffer = this.#buffer.subarray(header + 4 + size);
      this.opcodes.push(opcode);
      if (opcode !== 1) continue;
      const text = Buffer.from(payload).toString("utf8");
      this.texts.push(text);
      this.onText(JSON.parse(text));
    }
  }
}

/** A server whose every word a test decides, for what a real one does not do on demand. */
export class ScriptedServer {
  readonly url: string;
  readonly peers: Peer[] = [];
  readonly #http: Server;

  private constructor(http: Server) {
    this.#http = http;
    this.url = `http://127.0.0.1:${(http.address() as { port: number }).port}`;
  }

  /** `play` is called with each connection, and its number. */
  static async start(play: (peer: Peer, index: number) => void): Promise<ScriptedServer> {
    const http = createServer((_request, response) => response.writeHead(404).end()).listen(0, "127.0.0.1");
    await once(http, "listening");
    const server = new ScriptedServer(http);
    http.on("upgrade", (request, socket) => {
      const accept = createHash("sha1").update(`${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`);
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept.digest("base64")}\r\n\r\n`,
      );
      const peer = new Peer(request, socket);
      server.peers.push(peer);
      play(peer, server.peers.length - 1);
    });
    return server;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const peer of this.peers) peer.cut();
    this.#http.close();
    await once(this.#http, "close");
  }
}

/** A frame as servers send it: not masked. */
export function frame(opcode: number, payload: string | Buffer, fin = true): Buffer {
  const bytes = Buffer.from(payload as string);
  const first = (fin ? 0x80 : 0) | opcode;
  if (bytes.length < 126) return Buffer.concat([Buffer.from([first, bytes.length]), bytes]);
  const header = Buffer.alloc(bytes.length < 65536 ? 4 : 10);
  header[0] = first;
  if (header.length === 4) {
    header[1] = 126;
    header.writeUInt16BE(bytes.length, 2);
  } else {
    header[1] = 127;
    header.writeBigUInt64BE(BigInt(bytes.length), 2);
  }
  return Buffer.concat([header, bytes]);
}

/** A minimal outcome. */
export function outcome(value: unknown, outputs: unknown[] = []): Record<string, unknown> {
  const usage = { wall_us: 1, cpu_us: 1, memory_peak_bytes: 1, calls: 0, bytes_in: 0, bytes_out: 0 };
  return { status: "ok", value, outputs, usage, calls: [], exercised: [], denied: [] };
}
