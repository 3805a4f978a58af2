import { Buffer } from "node:buffer";

/** How bytes are told from objects in JSON, both ways. */
const TAG = "__codemode_binary_v1__";

interface TaggedBytes {
  readonly [TAG]: string;
  readonly buffer?: boolean;
}

/** JSON in which bytes are base64. `undefined` stays what it is. */
export function stringifyWithBytes(value: unknown): string | undefined {
  return JSON.stringify(value, function (this: Record<string, unknown>, key, encoded) {
    // Buffers have a `toJSON` of their own, which has been called by now: what is meant stands in the holder.
    const original = this[key];
    if (ArrayBuffer.isView(original)) return tagged(Buffer.from(original.buffer, original.byteOffset, original.byteLength), false);
    if (original instanceof ArrayBuffer) return tagged(Buffer.from(original), true);
    return encoded;
  });
}

export function parseWithBytes(json: string): unknown {
  return JSON.parse(json, (_key, value) => (isTagged(value) ? bytesOf(value) : value));
}

function tagged(bytes: Buffer, buffer: boolean): TaggedBytes {
  return { [TAG]: bytes.toString("base64"), buffer };
}

function isTagged(value: unknown): value is TaggedBytes {
  return typeof value === "object" && value !== null && typeof (value as TaggedBytes)[TAG] === "string";
}

function bytesOf(value: TaggedBytes): Uint8Array | ArrayBuffer {
  const bytes = new Uint8Array(Buffer.from(value[TAG], "base64"));
  return value.buffer === true ? bytes.buffer : bytes;
}
