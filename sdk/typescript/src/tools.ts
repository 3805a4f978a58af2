import { Buffer } from "node:buffer";
import { describeThrown } from "./errors.js";
import { errorReply, valueReply } from "./wire.js";

/** JSON Schema, as plain data. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** What a tool is told besides its arguments. */
export interface ToolContext {
  /** The run that calls. */
  readonly run: string;
  /** Which of the run's calls this is. */
  readonly call: number;
  /** Aborted when the run ends before the tool has answered. */
  readonly signal: AbortSignal;
}

// `any`, because a tool's author knows what its arguments are and the type of one tool says nothing about the next.
// biome-ignore lint/suspicious/noExplicitAny: see above
export type ToolFunction = (args: any, context: ToolContext) => unknown;

/** A tool with schemas, which the server checks arguments and answers against. */
export interface ToolDefinition {
  readonly description?: string;
  readonly input?: JsonSchema;
  readonly output?: JsonSchema;
  readonly execute: ToolFunction;
}

/** The functions that a program may call, by name: `tools.<name>(args)` in the program. */
export type Tools = Readonly<Record<string, ToolFunction | ToolDefinition>>;

/** The functions alone, and what the server has to know of them, as JSON text. */
export interface PreparedTools {
  readonly functions: ReadonlyMap<string, ToolFunction>;
  readonly wire: string;
}

const NO_TOOLS: PreparedTools = { functions: new Map(), wire: "[]" };

export function prepareTools(tools: Tools | undefined): PreparedTools {
  if (tools === undefined) return NO_TOOLS;
  const functions = new Map<string, ToolFunction>();
  const wire: unknown[] = [];
  for (const [name, tool] of Object.entries(tools)) {
    if (typeof tool === "function") {
      functions.set(name, tool);
      wire.push(name);
    } else {
      functions.set(name, tool.execute.bind(tool));
      wire.push({ name, description: tool.description, input: tool.input, output: tool.output });
    }
  }
  return { functions, wire: JSON.stringify(wire) };
}

/** A tool's answer as a message, or a message that says why it cannot be one. */
export function encodeAnswer(run: string, call: number, tool: string, answer: unknown, bytesMax: number): string {
  let json: string | undefined;
  try {
    json = JSON.stringify(answer);
  } catch (thrown) {
    const { name, message } = describeThrown(thrown);
    return errorReply(run, call, { name, message: `the answer of tool \`${tool}\` has no JSON form: ${message}` });
  }
  // A character is at least one byte, so this alone refuses what is certainly too large without counting.
  if (json !== undefined && json.length * 3 > bytesMax && Buffer.byteLength(json) > bytesMax) {
    const message = `the answer of tool \`${tool}\` is ${megabytes(Buffer.byteLength(json))} as JSON; at most ${megabytes(bytesMax)} can be sent`;
    return errorReply(run, call, { name: "ToolAnswerTooLarge", message });
  }
  return valueReply(run, call, json);
}

/** What a tool threw, as a message. */
export function encodeFailure(run: string, call: number, thrown: unknown): string {
  return errorReply(run, call, describeThrown(thrown));
}

function megabytes(bytes: number): string {
  return `${(bytes / (1 << 20)).toFixed(1)} MiB`;
}
