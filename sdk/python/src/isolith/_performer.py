"""Performs the calls of programs, and says how it went in the words of the protocol."""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
from typing import Any

from ._running import Running
from ._workers import Workers
from .outcome import ToolCall
from .results import NotJson, to_json
from .tool import Tool

REPLY_BYTES_MAX = 16 << 20
"""The largest answer of a tool, as JSON."""
_MESSAGE_CHARS_MAX = 10_000
_NAME_CHARS_MAX = 100

logger = logging.getLogger("isolith.tools")


class Performer:
    """Calls tools: async ones on the event loop, the others in threads."""

    def __init__(self, workers: Workers, reply_bytes_max: int = REPLY_BYTES_MAX) -> None:
        self._workers = workers
        self._reply_bytes_max = reply_bytes_max

    async def reply_to(self, running: Running, call: ToolCall) -> str:
        """Performs a call, and gives the message that answers it: whatever happens is an answer."""
        tool = running.tools.get(call.name)
        if tool is None:
            return reply_error(running.name, call.id, "ReferenceError", f"there is no tool `{call.name}`")
        try:
            value = await self._perform(running, tool, call.args)
        except asyncio.CancelledError:
            if running.over or running.abandoned:
                raise
            # Something inside the tool was cancelled, and not the run.
            return reply_error(running.name, call.id, "CancelledError", "the tool was cancelled")
        except (Exception, SystemExit) as error:
            logger.debug("the tool `%s` failed", call.name, exc_info=error)
            message = getattr(error, "message", None)
            text = message if isinstance(message, str) else str(error)
            return reply_error(running.name, call.id, type(error).__name__, text or type(error).__name__)
        try:
            text = to_json(value)
        except NotJson as error:
            return reply_error(running.name, call.id, "TypeError", f"the answer of the tool `{call.name}`: {error}")
        if (size := len(text.encode())) > self._reply_bytes_max:
            message = (
                f"the answer of the tool `{call.name}` is {size / 2**20:.1f} MiB, "
                f"more than {self._reply_bytes_max / 2**20:g} MiB"
            )
            return reply_error(running.name, call.id, "RangeError", message)
        return _reply(running.name, call.id, "value", text)

    async def _perform(self, running: Running, tool: Tool, args: Any) -> Any:
        if tool.is_async:
            # The task it runs in has the context already.
            return await tool.call(args)
        value = await self._workers.perform(lambda: tool.call(args), running.context.copy())
        # A plain function that gives a coroutine: a lambda around an async one, most likely.
        return await value if inspect.isawaitable(value) else value


def reply_error(run: str, call: int, name: str, message: str) -> str:
    """The message that fails a call."""
    # Texts of exceptions can hold what no encoding carries.
    plain = message[:_MESSAGE_CHARS_MAX].encode(errors="replace").decode()
    return _reply(
        run, call, "error", json.dumps({"name": name[:_NAME_CHARS_MAX], "message": plain}, ensure_ascii=False)
    )


def _reply(run: str, call: int, field: str, json_text: str) -> str:
    return f'{{"type":"reply","run":{json.dumps(run)},"call":{call},"{field}":{json_text}}}'
