"""Functions as tools, and as declarations for a model."""

from __future__ import annotations

import asyncio
import functools
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pytest

from isolith import Tool, ToolDefinitionError, declarations, tool
from isolith.tool import collect


@dataclass
class Filter:
    field: str
    value: str | None = None


def search(
    query: Annotated[str, "what to look for"],
    limit: int = 10,
    order: Literal["new", "old"] = "new",
    where: list[Filter] | None = None,
) -> list[str]:
    """Searches the archive."""
    return [query, str(limit), order, repr(where)]


async def later(seconds: float) -> None:
    """Waits."""
    await asyncio.sleep(seconds)


def test_a_function_says_what_it_takes() -> None:
    assert tool(search).to_wire() == {
        "name": "search",
        "description": "Searches the archive.",
        "input": {
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "what to look for"},
                "limit": {"type": "integer", "default": 10},
                "order": {"enum": ["new", "old"], "default": "new"},
                "where": {"anyOf": [{"type": "array", "items": {"$ref": "#/$defs/Filter"}}, {"type": "null"}]},
            },
            "additionalProperties": False,
            "required": ["query"],
            "$defs": {
                "Filter": {
                    "type": "object",
                    "properties": {
                        "field": {"type": "string"},
                        "value": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                    },
                    "additionalProperties": False,
                    "required": ["field"],
                }
            },
        },
    }


def test_arguments_come_by_name_and_as_what_the_hints_say() -> None:
    called = tool(search).call({"query": "a", "where": [{"field": "x"}]})
    assert called == ["a", "10", "new", "[Filter(field='x', value=None)]"]
    with pytest.raises(TypeError, match="`query` is missing"):
        tool(search).call({})
    with pytest.raises(TypeError, match="there is no `q` here"):
        tool(search).call({"q": 1})


def test_without_required_parameters_it_may_be_called_without_an_argument() -> None:
    def now() -> int:
        return 5

    made = tool(now)
    assert made.input == {"type": ["object", "null"], "properties": {}, "additionalProperties": False}
    assert made.call(None) == 5


def test_methods_partials_objects_and_unannotated_functions() -> None:
    class Counter:
        def __init__(self) -> None:
            self.count = 0

        def add(self, n: int) -> int:
            self.count += n
            return self.count

        async def __call__(self, n: int) -> int:
            return n

    counter = Counter()
    assert tool(counter.add).call({"n": 2}) == 2
    assert tool(functools.partial(search, limit=1)).call({"query": "a"})[1] == "1"
    assert tool(counter, name="same").is_async
    assert tool(lambda a, b=1: a + b, name="plus").call({"a": [1], "b": [2]}) == [1, 2]
    assert tool(later).is_async
    assert not tool(search).is_async


def test_lists_and_dicts_of_tools() -> None:
    assert list(collect([search, later])) == ["search", "later"]
    assert list(collect({"find": search, "again": tool(search)})) == ["find", "again"]
    assert collect(None) == {}
    with pytest.raises(ToolDefinitionError, match="two tools called `search`"):
        collect([search, search])
    with pytest.raises(ToolDefinitionError, match="a list of functions"):
        collect(search)  # type: ignore[arg-type]


def takes_star(*values: int) -> None: ...


def takes_double_star(**values: int) -> None: ...


def takes_bytes(data: bytes) -> None: ...


def takes_unknown(data: Nowhere) -> None: ...  # type: ignore[name-defined]  # noqa: F821


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (takes_star, "`values` cannot be given by name"),
        (takes_double_star, "it takes `\\*\\*` arguments"),
        (takes_bytes, "`takes_bytes` cannot be a tool: the type hint `bytes` has no JSON form"),
        (takes_unknown, "the signature of `takes_unknown` cannot be read"),
        (lambda: 1, "`<lambda>` cannot name a tool"),
    ],
)
def test_what_cannot_be_a_tool_is_refused_when_it_is_made(function: Any, message: str) -> None:
    with pytest.raises(ToolDefinitionError, match=message):
        tool(function)


@pytest.mark.parametrize("name", ["", "1a", "a-b", "__proto__", "é", "a" * 65, "a\n"])
def test_names_stand_in_programs(name: str) -> None:
    with pytest.raises(ToolDefinitionError):
        Tool(name, lambda args: args)


def test_declarations_are_typescript() -> None:
    raw = Tool("raw", lambda args: args, 'Anything. */ alert("x")', output={"type": "string"})

    def now() -> float:
        """The time.

        In seconds.
        """
        return 0

    assert declarations([tool(search), tool(later), tool(now), raw]) == (
        "declare const tools: {\n"
        "  /** Searches the archive. */\n"
        "  search(args: { /** what to look for */ query: string; limit?: number; "
        'order?: "new" | "old"; where?: Array<{ field: string; value?: string | null }> | null }): '
        "Promise<Array<string>>;\n"
        "  /** Waits. */\n"
        "  later(args: { seconds: number }): Promise<null>;\n"
        "  /**\n"
        "   * The time.\n"
        "   *\n"
        "   * In seconds.\n"
        "   */\n"
        "  now(): Promise<number>;\n"
        '  /** Anything. *∕ alert("x") */\n'
        "  raw(args?: unknown): Promise<string>;\n"
        "};"
    )
