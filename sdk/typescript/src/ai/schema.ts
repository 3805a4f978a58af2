import type { JsonSchema } from "../tools.js";

/** The part of Standard Schema that the AI SDK and others read: validation, and JSON Schema for the model. */
export interface StandardSchema<T> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => { readonly value: T } | { readonly issues: readonly { readonly message: string }[] };
    readonly types?: { readonly input: T; readonly output: T };
    readonly jsonSchema: {
      readonly input: (options: { readonly target: string }) => Record<string, unknown>;
      readonly output: (options: { readonly target: string }) => Record<string, unknown>;
    };
  };
}

/** What the model fills in. */
export interface CodeInput {
  code: string;
}

export const CODE_INPUT: StandardSchema<CodeInput> = standardSchema(
  {
    type: "object",
    properties: { code: { type: "string", description: "The body of an async function, or a module with a default export" } },
    required: ["code"],
    additionalProperties: false,
  },
  (value): value is CodeInput => typeof value === "object" && value !== null && typeof (value as CodeInput).code === "string",
);

function standardSchema<T>(schema: Record<string, unknown>, accepts: (value: unknown) => value is T): StandardSchema<T> {
  const json = () => structuredClone(schema);
  return {
    "~standard": {
      version: 1,
      vendor: "isolith",
      validate: (value) => (accepts(value) ? { value } : { issues: [{ message: "`code` must be a string" }] }),
      jsonSchema: { input: json, output: json },
    },
  };
}

/** The JSON Schema of whatever a tool was defined with, as far as it says. */
export function jsonSchemaOf(schema: unknown): JsonSchema | undefined {
  if ((typeof schema !== "object" && typeof schema !== "function") || schema === null) return undefined;
  const known = schema as {
    readonly jsonSchema?: unknown;
    readonly "~standard"?: { readonly jsonSchema?: { readonly input?: (options: { target: string }) => unknown } };
  };
  try {
    const standard = known["~standard"]?.jsonSchema?.input?.({ target: "draft-07" });
    const own = standard ?? known.jsonSchema;
    return typeof own === "object" && own !== null && !(own instanceof Promise) ? (own as JsonSchema) : undefined;
  } catch {
    // Some types have no JSON form. The tool works all the same; the model only knows less about it.
    return undefined;
  }
}

/** Checks a value as the schema's own library does. Throws what is wrong with it. */
export async function validated(schema: unknown, value: unknown, what: string): Promise<unknown> {
  if ((typeof schema !== "object" && typeof schema !== "function") || schema === null) return value;
  const known = schema as {
    readonly validate?: (value: unknown) => unknown;
    readonly "~standard"?: { readonly validate: (value: unknown) => unknown };
  };
  type Checked = { success?: boolean; error?: Error; value?: unknown; issues?: readonly { message: string; path?: readonly unknown[] }[] };
  if (known["~standard"] !== undefined) {
    const checked = (await known["~standard"].validate(value)) as Checked;
    if (checked.issues !== undefined) throw new TypeError(`${what}: ${checked.issues.map(issueText).join("; ")}`);
    return checked.value;
  }
  if (typeof known.validate !== "function") return value;
  const checked = (await known.validate(value)) as Checked;
  if (checked.success === false) throw new TypeError(`${what}: ${checked.error?.message ?? "invalid"}`);
  return checked.value;
}

function issueText(issue: { readonly message: string; readonly path?: readonly unknown[] }): string {
  const path = (issue.path ?? []).map((part) => (typeof part === "object" && part !== null ? (part as { key: unknown }).key : part));
  return path.length === 0 ? issue.message : `${path.map(String).join(".")}: ${issue.message}`;
}
