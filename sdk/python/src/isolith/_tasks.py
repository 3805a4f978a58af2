"""Tasks with an owner."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

_END_PATIENCE_S = 5.0

logger = logging.getLogger("isolith")


class Tasks:
    """Tasks that are ended together, and whose failures do not go unseen."""

    def __init__(self) -> None:
        self._all: set[asyncio.Task[Any]] = set()

    def spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.create_task(work)
        self._all.add(task)
        task.add_done_callback(self._finished)
        return task

    async def end(self) -> None:
        """Cancels all of them but the one that asks, and waits until they are gone, or will not go."""
        others = self._all - {asyncio.current_task()}
        for task in others:
            task.cancel()
        if others:
            await asyncio.wait(others, timeout=_END_PATIENCE_S)

    def _finished(self, task: asyncio.Task[Any]) -> None:
        self._all.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            # Whoever waits for it has it too.
            logger.debug("a task failed", exc_info=error)
