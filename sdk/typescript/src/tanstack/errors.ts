import { describeThrown, IsolithError } from "../errors.js";
import type { RunError } from "../outcome.js";
import type { NormalizedError } from "./types.js";

export interface AppliedLimits {
  readonly timeoutMs: number;
  readonly memoryMb: number;
  readonly toolCalls: number;
}

/** How a run failed, by the names that Code Mode and its users know. The kind decides, never the text of a message. */
export function normalizeError(error: RunError, limits: AppliedLimits): NormalizedError {
  const normalized: NormalizedError = { ...nameAndMessage(error, limits), code: error.code ?? error.kind };
  if (error.stack !== undefined) normalized.stack = error.stack;
  return normalized;
}

/** What is thrown when nothing ran. */
export function normalizeThrown(thrown: unknown): NormalizedError {
  const { name, message } = describeThrown(thrown);
  return thrown instanceof IsolithError ? { name, message, code: thrown.code } : { name, message };
}

export function disposedError(): NormalizedError {
  return { name: "DisposedError", message: "Context has been disposed" };
}

export function timeoutError(limits: AppliedLimits): NormalizedError {
  return { name: "TimeoutError", message: `Code execution timed out after ${limits.timeoutMs}ms` };
}

function nameAndMessage(error: RunError, limits: AppliedLimits): { name: string; message: string } {
  switch (error.kind) {
    case "timeout":
    case "cpu_limit":
      return timeoutError(limits);
    case "stalled":
      // It would time out if it were left alone; saying so at once saves the wait.
      return { name: "TimeoutError", message: "Code execution would never end: no host work will ever resolve the promise that it awaits" };
    case "memory_limit":
      return { name: "MemoryLimitError", message: `Code execution exceeded memory limit (${limits.memoryMb} MB)` };
    case "stack_overflow":
      return { name: "StackOverflowError", message: "Code execution exceeded stack size limit" };
    case "call_limit":
      return { name: "ToolCallLimitError", message: `Exceeded the maximum of ${limits.toolCalls} tool calls per execution` };
    case "output_limit":
      return { name: "OutputLimitError", message: error.message };
    case "syntax":
      return { name: "SyntaxError", message: placed(error) };
    case "thrown":
      return { name: error.name === "Thrown" ? "Error" : error.name, message: error.message };
    default:
      return { name: error.name, message: error.message };
  }
}

/** Code Mode shows a model the message alone, and a syntax error without its place is of little use. */
function placed(error: RunError): string {
  return error.line === undefined ? error.message : `${error.message} (line ${error.line}, column ${error.column ?? 1})`;
}
