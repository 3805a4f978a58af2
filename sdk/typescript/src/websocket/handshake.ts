import { Buffer } from "node:buffer";
import { createHash, randomBytes } from "node:crypto";
import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { ConnectionError, ProtocolError } from "../errors.js";
import { refusal } from "../http.js";

export interface HandshakeOptions {
  readonly url: string;
  readonly key: string | undefined;
  readonly timeoutMs: number;
}

/** A connection that speaks WebSocket from now on, and what came right after the handshake. */
export interface Upgraded {
  readonly socket: Socket;
  readonly rest: Buffer;
}

const HEAD_BYTES_MAX = 64 << 10;
const HEAD_END = "\r\n\r\n";
const ACCEPT_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

// Plain sockets, because they are the same in Node, Bun and Deno, where the built-in WebSocket cannot send a key and the
// HTTP clients differ in how they upgrade.
/** Connects and upgrades. */
export function upgrade(options: HandshakeOptions): Promise<Upgraded> {
  const url = new URL(options.url);
  const secure = url.protocol === "https:" || url.protocol === "wss:";
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const port = url.port === "" ? (secure ? 443 : 80) : Number(url.port);
  const nonce = randomBytes(16).toString("base64");
  return new Promise((resolve, reject) => {
    const connected = () => socket.write(requestHead(url, nonce, options.key));
    const socket = secure
      ? connectTls({ host, port, servername: /^[\d.]+$|:/.test(host) ? "" : host, ALPNProtocols: ["http/1.1"] }, connected)
      : connectTcp({ host, port }, connected);
    let received = Buffer.alloc(0);
    const finish = (act: () => void) => {
      clearTimeout(timer);
      // Only our own: runtimes have listeners there too.
      socket.off("data", onData).off("error", onError).off("close", onClose);
      act();
    };
    const fail = (error: Error) =>
      finish(() => {
        socket.on("error", () => {});
        socket.destroy();
        reject(error);
      });
    const timer = setTimeout(() => fail(unreachable(url, "it does not answer")), options.timeoutMs);
    const onError = (cause: Error) => fail(unreachable(url, cause.message, cause));
    const onClose = () => fail(unreachable(url, "it closed the connection"));
    const onData = (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      const end = received.indexOf(HEAD_END);
      if (end === -1) {
        if (received.length > HEAD_BYTES_MAX) fail(new ProtocolError("protocol.handshake", "the server's answer has no end"));
        return;
      }
      const head = parseHead(received.toString("latin1", 0, end));
      const rest = received.subarray(end + HEAD_END.length);
      if (head.status !== 101) {
        socket.off("data", onData).off("close", onClose);
        return refuse(head, rest, socket, fail);
      }
      if (head.headers.get("sec-websocket-accept") !== acceptOf(nonce)) {
        return fail(new ProtocolError("protocol.handshake", "the server's answer is not one to this request"));
      }
      finish(() => {
        socket.setNoDelay(true);
        resolve({ socket, rest });
      });
    };
    socket.on("error", onError).on("close", onClose).on("data", onData);
  });
}

interface Head {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
}

function requestHead(url: URL, nonce: string, key: string | undefined): string {
  const lines = [
    `GET ${url.pathname}${url.search} HTTP/1.1`,
    `Host: ${url.host}`,
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    `Sec-WebSocket-Key: ${nonce}`,
  ];
  // A key with a line break in it would be more headers.
  if (key !== undefined) lines.push(`Authorization: Bearer ${key.replace(/[^\x21-\x7e]/g, "")}`);
  return `${lines.join("\r\n")}${HEAD_END}`;
}

function parseHead(text: string): Head {
  const [statusLine = "", ...lines] = text.split("\r\n");
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(":");
    if (colon > 0) headers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
  }
  return { status: Number(/^HTTP\/1\.[01] (\d{3})/.exec(statusLine)?.[1] ?? 0), headers };
}

/** Waits for as much of a refusal's body as it says there is, because that is where the reason stands. */
function refuse(head: Head, rest: Buffer, socket: Socket, fail: (error: Error) => void): void {
  const length = Math.min(Number(head.headers.get("content-length") ?? 0) || 0, HEAD_BYTES_MAX);
  let body = rest;
  const done = () => fail(refusal(head.status, body.toString("utf8")));
  if (body.length >= length) return done();
  socket.on("close", done);
  socket.on("data", (chunk: Buffer) => {
    body = Buffer.concat([body, chunk]);
    if (body.length >= length) done();
  });
}

function acceptOf(nonce: string): string {
  return createHash("sha1")
    .update(nonce + ACCEPT_GUID)
    .digest("base64");
}

function unreachable(url: URL, why: string, cause?: unknown): ConnectionError {
  return new ConnectionError("connection.failed", `${url.origin} cannot be reached: ${why}`, { cause });
}
