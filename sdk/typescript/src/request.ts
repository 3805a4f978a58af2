import { IsolithError } from "./errors.js";
import type { RunOptions } from "./options.js";

/** The message that starts a run. `tools` is JSON text already. */
export function encodeRequest(run: string, program: string, options: RunOptions, tools: string): string {
  const { grants, limits, input, args, name, language, seed, time, random } = options;
  let rest: string;
  try {
    rest = JSON.stringify({ program, name, language, input, args, grants, limits, time, random, seed });
  } catch (cause) {
    throw new IsolithError("input.not_json", "`input`, `args` or another option has no JSON form", { cause });
  }
  // Names need no escaping, and tools are encoded once for many runs.
  const head = tools === "[]" ? `{"type":"run","run":"${run}",` : `{"type":"run","run":"${run}","tools":${tools},`;
  return head + rest.slice(1);
}
