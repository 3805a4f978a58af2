import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import { encodeFrame, FrameError, FrameReader, Opcode } from "../src/websocket/frames.js";
import { frame } from "./support/scripted.js";

function read(chunks: Buffer[], bytesMax = 1 << 20): string[] {
  const seen: string[] = [];
  const reader = new FrameReader(bytesMax, {
    text: (text) => seen.push(`text ${text}`),
    ping: (payload) => seen.push(`ping ${payload}`),
    close: (code, reason) => seen.push(`close ${code} ${reason}`),
  });
  for (const chunk of chunks) reader.push(chunk);
  return seen;
}

test("messages of every size arrive whole, however their bytes are cut", () => {
  for (const size of [0, 1, 125, 126, 127, 65535, 65536, 200_000]) {
    const text = "é".repeat(size >> 1) + "x".repeat(size & 1);
    const bytes = Buffer.concat([frame(1, text), frame(1, "next")]);
    for (const step of [1, 2, 3, 7, 1000, bytes.length]) {
      if (bytes.length / step > 20_000) continue;
      const chunks: Buffer[] = [];
      for (let at = 0; at < bytes.length; at += step) chunks.push(bytes.subarray(at, at + step));
      assert.deepEqual(read(chunks), [`text ${text}`, "text next"], `${size} by ${step}`);
    }
  }
});

test("fragments become one message, with control frames between them", () => {
  const [first, second] = [Buffer.from("né").subarray(0, 2), Buffer.from("né").subarray(2)];
  const chunks = [frame(1, first, false), frame(9, "p"), frame(0, second, false), frame(0, "!", true)];
  assert.deepEqual(read(chunks), ["ping p", "text né!"]);
});

test("a close has a code and a reason", () => {
  assert.deepEqual(read([frame(8, Buffer.concat([Buffer.from([3, 240]), Buffer.from("bye")]))]), ["close 1008 bye"]);
  assert.deepEqual(read([frame(8, "")]), ["close 1000 "]);
});

test("what is against the protocol is refused with its close code", () => {
  const masked = Buffer.from([0x81, 0x81, 1, 2, 3, 4, 5]);
  const cases: [string, Buffer[], number][] = [
    ["masked", [masked], 1002],
    ["reserved bit", [Buffer.from([0xc1, 0])], 1002],
    ["continuation of nothing", [frame(0, "x")], 1002],
    ["text inside a text", [frame(1, "a", false), frame(1, "b")], 1002],
    ["fragmented ping", [frame(9, "x", false)], 1002],
    ["long ping", [frame(9, "x".repeat(126))], 1002],
    ["unknown kind", [frame(3, "x")], 1002],
    ["unknown control", [frame(11, "x")], 1002],
    ["half a close code", [frame(8, "x")], 1002],
    ["binary", [frame(2, "x")], 1003],
    ["not UTF-8", [frame(1, Buffer.from([0xff]))], 1007],
    ["too large in one", [frame(1, "x".repeat(2000)).subarray(0, 10)], 1009],
    ["too large in pieces", [frame(1, "x".repeat(600), false), frame(0, "x".repeat(600), false)], 1009],
    ["absurd", [Buffer.from([0x81, 127, 255, 255, 255, 255, 255, 255, 255, 255])], 1009],
  ];
  for (const [name, chunks, code] of cases) {
    assert.throws(
      () => read(chunks, 1000),
      (error) => error instanceof FrameError && error.closeCode === code,
      name,
    );
  }
});

test("frames that are sent are masked and decode to what they were", () => {
  for (const size of [0, 125, 126, 65535, 65536]) {
    const payload = Buffer.alloc(size, "abc");
    const sent = encodeFrame(Opcode.text, payload);
    const header = size < 126 ? 2 : size < 65536 ? 4 : 10;
    assert.equal((sent[1] as number) & 0x80, 0x80);
    const mask = sent.subarray(header, header + 4);
    const unmasked = Buffer.from(sent.subarray(header + 4)).map((byte, i) => byte ^ (mask[i % 4] as number));
    assert.deepEqual(Buffer.from(unmasked), payload);
  }
});
