import { CODE_INPUT, type CodeInput, jsonSchemaOf, type StandardSchema, validated } from "./ai/schema.js";
import { declarationOf } from "./ai/stubs.js";
import type { Approve } from "./approve.js";
import type { Isolith } from "./isolith.js";
import type { Grant, Limits, RunOptions } from "./options.js";
import type { Output } from "./outcome.js";
import { sharedIsolith } from "./shared.js";
import type { ToolFunction } from "./tools.js";

export type { CodeInput, StandardSchema } from "./ai/schema.js";

/** A tool of the AI SDK, as far as it matters here. */
export interface AiTool {
  readonly description?: string;
  readonly inputSchema?: unknown;
  // biome-ignore lint/suspicious/noExplicitAny: the types of a tool's input and options are its own
  readonly execute?: (input: any, options: any) => unknown;
  readonly needsApproval?: unknown;
}

export interface CodeToolOptions {
  /** What the code may call, by name. The model is shown their types. */
  readonly tools?: Readonly<Record<string, AiTool>>;
  /** Runs the code. A local daemon, shared by everything in this process, unless given. */
  readonly client?: Isolith;
  readonly grants?: readonly Grant[];
  readonly limits?: Limits;
  /** Who decides about calls that a grant asks about, and about tools with `needsApproval: true`. */
  readonly approve?: Approve;
  /** Stands before the list of functions that the model is shown. */
  readonly description?: string;
  readonly onOutput?: (output: Output) => void;
}

/** What the model is told about a run. */
export interface CodeResult {
  readonly ok: boolean;
  readonly value?: unknown;
  readonly error?: { readonly name: string; readonly message: string; readonly line?: number; readonly hint?: string };
  readonly logs?: readonly string[];
}

/** Fits where the AI SDK takes a tool, with or without its `tool()`. */
export interface CodeTool {
  readonly description: string;
  readonly inputSchema: StandardSchema<CodeInput>;
  readonly execute: (input: CodeInput, options?: { readonly abortSignal?: AbortSignal | undefined }) => Promise<CodeResult>;
}

const DESCRIPTION =
  "Runs TypeScript in a sandbox and gives back what it returns. It is the body of an async function: use `await` and `return`. " +
  "There is no network, file system or process; write to `console` to see intermediate values.";

/** One tool that runs code, which calls the other tools: many steps for one answer of the model. */
export function codeTool(options: CodeToolOptions = {}): CodeTool {
  const tools = Object.entries(options.tools ?? {});
  for (const [name, tool] of tools) checkTool(name, tool, options.approve);
  const declarations = tools.map(([name, tool]) => declarationOf(`external_${name}`, tool.description, jsonSchemaOf(tool.inputSchema)));
  const intro = options.description ?? DESCRIPTION;
  const description = declarations.length === 0 ? intro : `${intro}\n\nIt can call:\n\n${declarations.join("\n\n")}`;
  return {
    description,
    inputSchema: CODE_INPUT,
    async execute({ code }, { abortSignal } = {}) {
      const client = options.client ?? sharedIsolith();
      const functions = Object.fromEntries(tools.map(([name, tool]) => [name, functionOf(name, tool)]));
      const outcome = await client.run(code, { ...runOptions(options, abortSignal), tools: functions });
      const logs = outcome.outputs.length === 0 ? {} : { logs: outcome.outputs.map(({ text }) => text) };
      if (outcome.status === "ok") return { ok: true, ...(outcome.value === undefined ? {} : { value: outcome.value }), ...logs };
      const { name, message, line, hint } = outcome.error;
      const error = { name, message, ...(line === undefined ? {} : { line }), ...(hint === undefined ? {} : { hint }) };
      return { ok: false, error, ...logs };
    },
  };
}

function checkTool(name: string, tool: AiTool, approve: Approve | undefined): void {
  if (tool.execute === undefined) throw new TypeError(`the tool \`${name}\` has no \`execute\`, so code cannot call it`);
  const { needsApproval = false } = tool;
  if (needsApproval === true && approve === undefined) {
    throw new TypeError(`the tool \`${name}\` needs approval: say with \`approve\` who gives it, or give the tool to the model directly`);
  }
  if (typeof needsApproval !== "boolean") {
    throw new TypeError(`the tool \`${name}\` needs approval at times, which code cannot ask for: give it to the model directly`);
  }
}

function functionOf(name: string, tool: AiTool): ToolFunction {
  return async (args, { run, call, signal }) => {
    const input = await validated(tool.inputSchema, args ?? {}, `invalid input for \`${name}\``);
    return tool.execute?.(input, { toolCallId: `${run}:${call}`, messages: [], abortSignal: signal });
  };
}

function runOptions({ tools, grants, limits, approve, onOutput }: CodeToolOptions, signal: AbortSignal | undefined): RunOptions {
  const asked = Object.entries(tools ?? {}).filter(([, tool]) => tool.needsApproval === true);
  const all = [...(grants ?? []), ...asked.map(([name]) => `ask tool:${name}`)];
  return {
    ...(all.length === 0 ? {} : { grants: all }),
    ...(approve === undefined ? {} : { approve }),
    ...(limits === undefined ? {} : { limits }),
    ...(onOutput === undefined ? {} : { onOutput }),
    ...(signal === undefined ? {} : { signal }),
  };
}
