"""Tools as TypeScript declarations, for the prompt of a model that writes programs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from .tool import Tool

_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_PRIMITIVES = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}
_DEPTH_MAX = 12


def declarations(tools: Iterable[Tool]) -> str:
    """`declare const tools: {…}` with a signature and a comment for each tool."""
    lines = ["declare const tools: {"]
    for tool in tools:
        if tool.description:
            lines += _comment(tool.description)
        argument = tool.input if tool.input is not None else tool.shown
        lines.append(f"  {tool.name}({_parameter(argument)}): Promise<{_answer(tool)}>;")
    return "\n".join([*lines, "};"])


def type_text(schema: Any) -> str:
    """A JSON Schema as a TypeScript type, as far as there is one; `unknown` where there is none."""
    definitions = schema.get("$defs", {}) if isinstance(schema, dict) else {}
    return _text(schema, definitions, 0)


def _answer(tool: Tool) -> str:
    schema = tool.output if tool.output is not None else tool.returns
    return type_text(schema) if schema is not None else "unknown"


def _parameter(schema: Any) -> str:
    if schema is None:
        return "args?: unknown"
    kind = schema.get("type")
    optional = False
    if isinstance(kind, list) and "null" in kind:
        # No argument counts as null.
        kinds = [one for one in kind if one != "null"]
        kind, optional = kinds[0] if len(kinds) == 1 else kinds, True
        schema = {**schema, "type": kind}
    if kind == "object" and not schema.get("required"):
        optional = True
        if not schema.get("properties") and not schema.get("additionalProperties"):
            return ""
    return f"args{'?' if optional else ''}: {type_text(schema)}"


def _text(schema: Any, definitions: dict[str, Any], depth: int) -> str:
    if not isinstance(schema, dict) or depth > _DEPTH_MAX:
        return "unknown"

    def inner(one: Any) -> str:
        return _text(one, definitions, depth + 1)

    if isinstance(reference := schema.get("$ref"), str):
        return inner(definitions.get(reference.rpartition("/")[2]))
    if "const" in schema:
        return json.dumps(schema["const"], ensure_ascii=False)
    if "enum" in schema:
        return " | ".join(json.dumps(value, ensure_ascii=False) for value in schema["enum"])
    for keyword, joint in (("anyOf", " | "), ("oneOf", " | "), ("allOf", " & ")):
        if options := schema.get(keyword):
            return joint.join(dict.fromkeys(inner(option) for option in options))
    kind = schema.get("type")
    if isinstance(kind, list):
        return " | ".join(dict.fromkeys(inner({**schema, "type": one}) for one in kind))
    if kind == "array":
        if "prefixItems" in schema:
            return f"[{', '.join(inner(item) for item in schema['prefixItems'])}]"
        return f"Array<{inner(schema.get('items', {}))}>"
    if kind == "object" or "properties" in schema:
        return _object(schema, inner)
    return _PRIMITIVES.get(kind, "unknown") if isinstance(kind, str) else "unknown"


def _object(schema: dict[str, Any], inner: Any) -> str:
    required = schema.get("required", ())
    fields = []
    for name, one in schema.get("properties", {}).items():
        key = name if _IDENTIFIER.fullmatch(name) else json.dumps(name)
        described = one.get("description") if isinstance(one, dict) else None
        note = f"/** {_one_line(described)} */ " if described else ""
        fields.append(f"{note}{key}{'' if name in required else '?'}: {inner(one)}")
    if fields:
        return f"{{ {'; '.join(fields)} }}"
    extra = schema.get("additionalProperties")
    return f"Record<string, {inner(extra)}>" if isinstance(extra, dict) else "Record<string, unknown>"


def _comment(text: str) -> list[str]:
    lines = text.replace("*/", "*∕").splitlines()
    if len(lines) == 1:
        return [f"  /** {lines[0]} */"]
    return ["  /**", *(f"   * {line}".rstrip() for line in lines), "   */"]


def _one_line(text: str) -> str:
    return " ".join(text.replace("*/", "*∕").split())
