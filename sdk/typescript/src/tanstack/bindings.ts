import type { ToolFunction } from "../tools.js";
import type { ToolBinding } from "./types.js";

/** The tools of a context, and what has to be renamed inside the sandbox. */
export interface BoundTools {
  readonly tools: Record<string, ToolFunction>;
  /** Globals whose tool has another name there. */
  readonly globals: Record<string, string> | undefined;
}

const EXTERNAL = "external_";
const WIRE_NAME_MAX = 64;
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;
const RESERVED = new Set(
  (
    "arguments await break case catch class const continue debugger default delete do else enum eval export extends false finally for " +
    "function if implements import in instanceof interface let new null package private protected public return static super " +
    "switch this throw true try typeof undefined var void while with yield"
  ).split(" "),
);

export function bindTools(bindings: Readonly<Record<string, ToolBinding>>): BoundTools {
  const tools: Record<string, ToolFunction> = {};
  const globals: Record<string, string> = {};
  const names = Object.keys(bindings);
  for (const name of names) checkName(name);
  names.forEach((name, index) => {
    const binding = bindings[name] as ToolBinding;
    const wire = wireName(name, index, bindings);
    // Exactly one argument, and never none of it.
    tools[wire] = (args) => binding.execute(args ?? {});
    if (name !== EXTERNAL + wire) globals[name] = wire;
  });
  return { tools, globals: Object.keys(globals).length === 0 ? undefined : globals };
}

/** A tool `x` is `external_x` in every program, so most names need nothing more than to lose the beginning. */
function wireName(name: string, index: number, bindings: Readonly<Record<string, ToolBinding>>): string {
  const short = name.startsWith(EXTERNAL) ? name.slice(EXTERNAL.length) : name;
  const usable = IDENTIFIER.test(short) && short.length <= WIRE_NAME_MAX && short !== "__proto__";
  const taken = short !== name && Object.hasOwn(bindings, short);
  return usable && !taken ? short : `tool${index}$`;
}

function checkName(name: string): void {
  if (!IDENTIFIER.test(name)) {
    throw new Error(`Invalid tool name '${name}': use letters, digits, _ and $, not starting with a digit`);
  }
  if (RESERVED.has(name)) throw new Error(`Invalid tool name '${name}': reserved JavaScript keyword`);
}
