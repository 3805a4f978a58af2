"""Waiting between attempts: longer each time, never in step with other clients, and not for ever."""

from __future__ import annotations

import asyncio
import random
import time

_FIRST_S = 0.1
_LONGEST_S = 5.0


class Backoff:
    """Pauses that grow until a total is used up."""

    def __init__(self, total_s: float) -> None:
        self._deadline = time.monotonic() + total_s
        self._pause_s = _FIRST_S

    async def wait(self) -> bool:
        """Waits for the next attempt; says at once when there is none."""
        remaining_s = self._deadline - time.monotonic()
        if remaining_s <= 0:
            return False
        await asyncio.sleep(min(self._pause_s * random.uniform(0.5, 1.0), remaining_s))  # noqa: S311 - no secret
        self._pause_s = min(self._pause_s * 2, _LONGEST_S)
        return True
