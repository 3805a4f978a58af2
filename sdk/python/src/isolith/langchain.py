"""LangChain's tools in programs, and programs as a tool of LangChain.

run_code = code_tool(isolith, [search, fetch])     # a StructuredTool for an agent
isolith.run(code, tools=guest_tools([search]))     # LangChain's tools for a program of your own
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, StructuredTool

from ._codemode import CODE_SCHEMA, identifiers, instructions, report, run_from_any_loop
from .blocking import Isolith
from .client import AsyncIsolith
from .errors import ClientClosed
from .results import to_json
from .tool import Tool, ToolLike, collect

if TYPE_CHECKING:
    from ._request import RunOptions


def guest_tools(tools: Sequence[BaseTool]) -> list[Tool]:
    """LangChain's tools, as a program may call them. Names that cannot stand in a program are adapted."""
    names = identifiers(tool.name for tool in tools)
    return [_guest_tool(names[tool.name], tool) for tool in tools]


def code_tool(
    client: Isolith | AsyncIsolith,
    tools: Sequence[BaseTool | ToolLike] = (),
    *,
    name: str = "run_code",
    description: str | None = None,
    options: RunOptions | None = None,
) -> StructuredTool:
    """A tool that runs programs which may call these tools. What it answers is JSON: a value or an error, and output.

    `options` are the grants and limits of the programs. With `Isolith` it can be invoked either way, with
    `AsyncIsolith` only by `ainvoke`.
    """
    theirs = iter(guest_tools([tool for tool in tools if isinstance(tool, BaseTool)]))
    guests = collect([next(theirs) if isinstance(tool, BaseTool) else tool for tool in tools])

    def run_code(code: str) -> str:
        if isinstance(client, AsyncIsolith):
            raise ClientClosed("an `AsyncIsolith` cannot be waited for", code="client.loop", hint="use `ainvoke`")
        return to_json(report(client.run(code, guests, **(options or {}))))

    async def run_code_async(code: str) -> str:
        return to_json(report(await run_from_any_loop(client, code, guests, options or {})))

    return StructuredTool(
        name=name,
        description=description or instructions(guests.values()),
        args_schema=CODE_SCHEMA,
        func=run_code,
        coroutine=run_code_async,
    )


def _guest_tool(name: str, tool: BaseTool) -> Tool:
    async def call(args: Any) -> Any:
        answer = await tool.ainvoke(args or {})
        return answer.content if isinstance(answer, ToolMessage) else answer

    schema = tool.tool_call_schema
    if not isinstance(schema, dict):
        schema = schema.model_json_schema() if hasattr(schema, "model_json_schema") else schema.schema()
    # The library's own validator decides; its errors are the better ones, and it knows defaults and coercions.
    return Tool(name, call, tool.description, shown=schema)
