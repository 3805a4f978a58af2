"""What the adapters for agent libraries share: a tool that runs programs which call other tools."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Coroutine, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from .approval import ApprovalRequest, Decision
from .blocking import Isolith
from .client import AsyncIsolith
from .outcome import Outcome
from .tool import Tool, ToolsLike, collect, is_async_callable
from .typescript import declarations

if TYPE_CHECKING:
    from ._request import RunOptions

OUTPUT_CHARS_MAX = 20_000
"""How much of what a program wrote is shown to a model."""

CODE_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"code": {"type": "string", "description": "The program, in TypeScript or JavaScript."}},
    "required": ["code"],
    "additionalProperties": False,
}

_INSTRUCTIONS = """\
Runs a TypeScript program in a sandbox and gives what it returns. Write a function body: use `await` and end with \
`return`. There is no network, no file system and no `process`; there are only these tools. Prefer one program that \
calls several of them, at the same time with `Promise.all` where that is possible, and returns just what is needed."""


def instructions(tools: Iterable[Tool]) -> str:
    """What to tell a model about a tool that runs programs."""
    return f"{_INSTRUCTIONS}\n\n```typescript\n{declarations(tools)}\n```"


def report(outcome: Outcome) -> dict[str, Any]:
    """What a model is told of an outcome. That a program failed is something to react to, not an exception."""
    told: dict[str, Any] = {}
    if outcome.error is None:
        told["value"] = outcome.value
    else:
        error = outcome.error
        told["error"] = {"kind": error.kind, "name": error.name, "message": error.message}
        details = {"line": error.line, "column": error.column, "code": error.code, "hint": error.hint}
        told["error"].update({key: value for key, value in details.items() if value is not None})
    for stream, text in (("stdout", outcome.stdout), ("stderr", outcome.stderr)):
        if text:
            told[stream] = text if len(text) <= OUTPUT_CHARS_MAX else f"{text[:OUTPUT_CHARS_MAX]}\n[… cut]"
    return told


def identifiers(names: Iterable[str]) -> dict[str, str]:
    """Names that can stand in a program, for names that perhaps cannot: `get-weather` becomes `get_weather`."""
    used: set[str] = set()
    chosen: dict[str, str] = {}
    for name in names:
        plain = re.sub(r"[^A-Za-z0-9_$]", "_", name)[:60] or "tool"
        plain = f"_{plain}" if plain[0].isdigit() or plain == "__proto__" else plain
        candidate, number = plain, 2
        while candidate in used:
            candidate, number = f"{plain}_{number}", number + 1
        used.add(candidate)
        chosen[name] = candidate
    return chosen


async def run_from_any_loop(
    client: Isolith | AsyncIsolith, code: str, tools: ToolsLike | None, options: RunOptions
) -> Outcome:
    """Runs a program with whichever client. What is async runs on the loop this is awaited on, where its things are."""
    if isinstance(client, AsyncIsolith):
        return await client.run(code, tools, **options)
    home = asyncio.get_running_loop()
    moved = {name: _on_loop(home, tool) for name, tool in collect(tools).items()}
    approve = options.get("approve")
    if callable(approve) and is_async_callable(approve):
        decide: Any = approve

        async def decide_at_home(request: ApprovalRequest) -> Decision:
            return cast(Decision, await _at_home(home, decide(request)))

        options = {**options, "approve": decide_at_home}
    engine = client._engine()
    running = asyncio.run_coroutine_threadsafe(engine.client.run(code, moved, **options), engine.loop)
    return await asyncio.wrap_future(running)


def _on_loop(home: asyncio.AbstractEventLoop, tool: Tool) -> Tool:
    if not tool.is_async:
        return tool

    async def call(args: Any) -> Any:
        return await _at_home(home, tool.call(args))

    return replace(tool, call=call)


async def _at_home(home: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, Any]) -> Any:
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, home))
