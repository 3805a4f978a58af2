import { Buffer } from "node:buffer";
import { IsolithError } from "./errors.js";
import type { RunOptions } from "./options.js";
import { SENT_BYTES_MAX } from "./wire.js";

/** The message that starts a run. `tools` is JSON text already. */
export function encodeRequest(run: string, program: string, options: RunOptions, tools: string): string {
  const { grants, limits, input, args, name, language, seed, time, random, engine, isolation } = options;
  let rest: string;
  try {
    rest = JSON.stringify({ program, name, language, input, args, grants, limits, time, random, seed, engine, isolation });
  } catch (cause) {
    throw new IsolithError("input.not_json", "`input`, `args` or another option has no JSON form", { cause });
  }
  // Names need no escaping, and tools are encoded once for many runs.
  const head = tools === "[]" ? `{"type":"run","run":"${run}",` : `{"type":"run","run":"${run}","tools":${tools},`;
  const request = head + rest.slice(1);
  // Refused here, because it would take the connection and all other runs on it down.
  if (request.length * 3 > SENT_BYTES_MAX && Buffer.byteLength(request) > SENT_BYTES_MAX) {
    throw new IsolithError("request.too_large", "a program with its `input`, `args` and `tools` is at most 24 MiB as JSON");
  }
  return request;
}
