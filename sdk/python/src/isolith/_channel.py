"""One connection to a server, as a way for texts to come and go."""

from __future__ import annotations

from typing import Protocol

from .errors import IsolithError

MESSAGE_BYTES_MAX = 512 << 20
"""The longest message that is read: the largest value a run can have, as JSON, and some room."""


class ChannelLost(Exception):
    """The connection is over. The cause is what those who wait for something are told."""

    def __init__(self, cause: IsolithError) -> None:
        super().__init__(str(cause))
        self.cause = cause


class Channel(Protocol):
    """A connection that is open."""

    async def send(self, text: str) -> None:
        """Sends one message, and waits while the other side is slow to take it."""

    async def receive(self) -> str:
        """The next message."""

    async def close(self) -> None:
        """Ends it in good order."""


class Connector(Protocol):
    """Opens connections."""

    resumes: bool
    """Whether runs outlive a connection, so that a new one can take them up again."""

    async def connect(self) -> Channel:
        """A new connection; `ConnectionFailed` or `RequestError` when there is none to be had."""
