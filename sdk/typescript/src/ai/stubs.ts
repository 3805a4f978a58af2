import type { JsonSchema } from "../tools.js";

const DEPTH_MAX = 8;
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

/** A tool as TypeScript declares it, for a model to read. */
export function declarationOf(name: string, description: string | undefined, input: JsonSchema | undefined): string {
  const comment =
    description === undefined || description === "" ? "" : `/** ${description.replaceAll("*/", "* /").replaceAll("\n", " ")} */\n`;
  const parameter = input === undefined ? "args?: unknown" : `args: ${typeOf(input, 0)}`;
  return `${comment}declare function ${name}(${parameter}): Promise<any>;`;
}

/** A JSON Schema as a TypeScript type. What it cannot express is `unknown`. */
export function typeOf(schema: unknown, depth: number): string {
  if (typeof schema !== "object" || schema === null || depth > DEPTH_MAX) return "unknown";
  const { type, enum: values, const: constant, anyOf, oneOf, allOf, items } = schema as Record<string, unknown>;
  if (constant !== undefined) return JSON.stringify(constant);
  if (Array.isArray(values)) return union(values.map((value) => JSON.stringify(value)));
  const choices = anyOf ?? oneOf;
  if (Array.isArray(choices)) return union(choices.map((choice) => typeOf(choice, depth + 1)));
  if (Array.isArray(allOf)) return allOf.map((part) => typeOf(part, depth + 1)).join(" & ");
  if (Array.isArray(type)) return union(type.map((one) => typeOf({ ...schema, type: one }, depth + 1)));
  switch (type) {
    case "string":
    case "boolean":
    case "null":
      return type;
    case "number":
    case "integer":
      return "number";
    case "array":
      return `Array<${typeOf(items, depth + 1)}>`;
    case "object":
      return objectType(schema as Record<string, unknown>, depth);
    default:
      return "unknown";
  }
}

function objectType(schema: Record<string, unknown>, depth: number): string {
  const properties = (schema.properties ?? {}) as Record<string, unknown>;
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const fields = Object.entries(properties).map(([name, property]) => {
    const key = IDENTIFIER.test(name) ? name : JSON.stringify(name);
    return `${key}${required.has(name) ? "" : "?"}: ${typeOf(property, depth + 1)}`;
  });
  if (typeof schema.additionalProperties === "object" && schema.additionalProperties !== null) {
    fields.push(`[key: string]: ${typeOf(schema.additionalProperties, depth + 1)}`);
  }
  return fields.length === 0 ? "Record<string, unknown>" : `{ ${fields.join("; ")} }`;
}

function union(types: string[]): string {
  return types.length === 0 ? "never" : [...new Set(types)].join(" | ");
}
