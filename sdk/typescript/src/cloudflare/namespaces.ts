import type { ConnectorBinding, ProviderFunction, ResolvedProvider } from "./types.js";

/** An object of the program whose properties are calls. */
export interface Namespace {
  readonly name: string;
  readonly prelude: string | undefined;
  call(method: string, args: unknown[]): Promise<unknown>;
}

const IDENTIFIER = /^[a-zA-Z_$][a-zA-Z0-9_$]*$/;
const RESERVED_NAMES = new Set(["Promise", "setTimeout", "Error", "console", "globalThis", "tools", "input", "isolith$", "undefined"]);
const RESERVED_WORDS = new Set(
  (
    "abstract arguments await boolean break byte case catch char class const continue debugger default delete do double else enum eval " +
    "export extends false final finally float for function goto if implements import in instanceof int interface let long native new " +
    "null package private protected public return short static super switch synchronized this throw throws transient true try typeof " +
    "undefined var void volatile while with yield"
  ).split(" "),
);
const CONTROL = "__codemode_control__";
const PAUSE = "__CODEMODE_PAUSE__";

/** The namespaces of one execution, or what is wrong with them as a text. */
export function namespacesOf(providers: readonly ResolvedProvider[], connectors: readonly ConnectorBinding[]): Namespace[] | string {
  const namespaces: Namespace[] = [];
  const seen = new Set<string>();
  for (const { name, fns, prelude } of providers) {
    const wrong = checkName("Provider", name) ?? (seen.has(name) ? `Duplicate provider name "${name}"` : undefined);
    if (wrong !== undefined) return wrong;
    seen.add(name);
    const functions = sanitized(name, fns);
    if (typeof functions === "string") return functions;
    namespaces.push({ name, prelude, call: (method, args) => callFunction(functions, method, args) });
  }
  for (const { name, binding } of connectors) {
    const clash = seen.has(name) ? `Duplicate name "${name}" (connector clashes with provider)` : undefined;
    const wrong = checkName("Connector", name) ?? clash;
    if (wrong !== undefined) return wrong;
    seen.add(name);
    namespaces.push({ name, prelude: undefined, call: (method, args) => callConnector(binding, method, args[0]) });
  }
  return namespaces;
}

/** A tool's name as a property that can be written with a dot. */
export function sanitizeToolName(name: string): string {
  const plain = name.replace(/[-.\s]/g, "_").replace(/[^a-zA-Z0-9_$]/g, "");
  if (plain === "") return "_";
  if (/^\d/.test(plain)) return `_${plain}`;
  return RESERVED_WORDS.has(plain) ? `${plain}_` : plain;
}

function checkName(what: string, name: string): string | undefined {
  if (RESERVED_NAMES.has(name) || RESERVED_WORDS.has(name)) return `${what} name "${name}" is reserved`;
  return IDENTIFIER.test(name) ? undefined : `${what} name "${name}" is not a valid JavaScript identifier`;
}

function sanitized(provider: string, fns: Record<string, ProviderFunction>): Map<string, ProviderFunction> | string {
  const functions = new Map<string, ProviderFunction>();
  const origins = new Map<string, string>();
  for (const [name, fn] of Object.entries(fns)) {
    const plain = sanitizeToolName(name);
    const other = origins.get(plain);
    if (other !== undefined) return `Tool names "${other}" and "${name}" both sanitize to "${plain}" in provider "${provider}"`;
    origins.set(plain, name);
    functions.set(plain, fn);
  }
  return functions;
}

async function callFunction(functions: ReadonlyMap<string, ProviderFunction>, method: string, args: unknown[]): Promise<unknown> {
  const fn = functions.get(method);
  if (fn === undefined) throw new Error(`Tool "${method}" not found`);
  return fn(...args);
}

async function callConnector(binding: ConnectorBinding["binding"], method: string, args: unknown): Promise<unknown> {
  const answer = await binding.callTool(method, args);
  if (typeof answer !== "object" || answer === null) return answer;
  // A connector reports errors and pauses as values, which a program should not mistake for answers.
  const { [CONTROL]: control, message } = answer as Record<string, unknown>;
  if (control === "pause") throw new Error(PAUSE);
  if (control === "error") throw new Error(String(message));
  return answer;
}
