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
        self._total_s = total_s
        self.reset()

    def reset(self) -> None:
        """Begins anew: the next attempt is made at once."""
        self._deadline: float | None = None
        self._pause_s = 0.0

    async def wait(self) -> bool:
        """Waits for the next attempt; says at once when there is none."""
        now = time.monotonic()
        self._deadline = self._deadline or now + self._total_s
        remaining_s = self._deadline - now
        if remaining_s <= 0:
            return False
        await asyncio.sleep(min(self._pause_s * random.uniform(0.5, 1.0), remaining_s))  # noqa: S311 - no secret
        self._pause_s = min(max(self._pause_s * 2, _FIRST_S), _LONGEST_S)
        return True
