"""A run as it goes on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from types import TracebackType

from ._running import Running
from ._session import Session
from .outcome import Event, Outcome


class RunStream:
    """The events of one run, in order; the last one is its outcome.

    The run starts when this is entered or first iterated over, and is stopped when it is left early.
    """

    def __init__(self, session: Session, running: Running, places: asyncio.Semaphore) -> None:
        self._session = session
        self._running = running
        self._places = places
        self._begun = False
        self._has_place = False
        self._closed = False

    @property
    def run(self) -> str:
        """The name of the run."""
        return self._running.name

    async def __aenter__(self) -> RunStream:
        await self.begin()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    async def __aiter__(self) -> AsyncIterator[Event]:
        # A generator, so that leaving the loop early stops the run as soon as nobody refers to it.
        try:
            while True:
                event = await self.next_event()
                yield event
                if isinstance(event, Outcome):
                    return
        finally:
            self.close()

    async def begin(self) -> None:
        """Starts the run, unless it was started."""
        if self._begun:
            return
        self._begun = True
        await self._places.acquire()
        self._has_place = True
        try:
            await self._session.begin(self._running)
        except BaseException:
            self.close()
            raise

    async def next_event(self) -> Event:
        """The next event. After the last one, the outcome again."""
        await self.begin()
        try:
            event = await self._running.next_event()
        except BaseException:
            # A lost connection, or whoever waits here was cancelled.
            self.close()
            raise
        if isinstance(event, Outcome):
            self.close()
        return event

    async def outcome(self) -> Outcome:
        """The outcome, leaving out whatever comes before it."""
        while True:
            if isinstance(event := await self.next_event(), Outcome):
                return event

    def cancel(self) -> None:
        """Stops the run. Its outcome comes as usual, with an error of the kind `cancelled`."""
        self._session.cancel(self._running.name)

    def close(self) -> None:
        """Stops the run if it goes on, without waiting for its outcome."""
        if self._has_place:
            self._has_place = False
            self._places.release()
        if self._begun and not self._closed:
            self._closed = True
            self._session.abandon(self._running)
