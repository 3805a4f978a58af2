"""One connection at a time: opened when it is needed, and again when it breaks."""

from __future__ import annotations

import asyncio
import copy
import json
import logging
import time
from typing import Any, Protocol

from ._backoff import Backoff
from ._channel import Channel, ChannelLost, Connector
from ._tasks import Tasks
from .errors import (
    ClientClosed,
    ConnectionFailed,
    ConnectionLost,
    DaemonDied,
    IsolithError,
    ProtocolError,
    RequestError,
)

_HELLO_PATIENCE_S = 15.0
_QUIET_S = 20.0
"""How long nothing may come before the other side is asked whether it is there."""

logger = logging.getLogger("isolith")


class Owner(Protocol):
    """Whom a link works for."""

    def needs_link(self) -> bool:
        """Whether a broken connection is to be replaced."""

    async def take_up(self, channel: Channel) -> None:
        """Goes on over a new connection in place of a broken one."""

    def heard(self, channel: Channel, message: dict[str, Any]) -> None:
        """Takes a message. Must not wait: everyone's messages come this way."""

    def lost(self, error: IsolithError) -> None:
        """There is no connection, and there will be none for what goes on."""


class Link:
    """Keeps a connection for its owner."""

    def __init__(self, connector: Connector, reconnect_s: float, owner: Owner, tasks: Tasks) -> None:
        self.live: Channel | None = None
        self.resumes = connector.resumes
        self._connector = connector
        self._reconnect_s = reconnect_s
        self._owner = owner
        self._tasks = tasks
        self._opening: asyncio.Task[None] | None = None
        self._closed = False
        self._loss: IsolithError | None = None
        self._backoff = Backoff(reconnect_s)
        self._heard_at = 0.0

    async def channel(self) -> Channel:
        """The connection, once it is open."""
        while True:
            if self._closed:
                raise ClientClosed("the client is closed", code="client.closed")
            if self.live is not None:
                return self.live
            if self._opening is None:
                self._opening = self._tasks.spawn(self._open_first())
            opening = self._opening
            try:
                # Shielded: others wait for the same connection.
                await asyncio.shield(opening)
            except asyncio.CancelledError:
                if self._closed and opening.cancelled():
                    raise ClientClosed("the client was closed", code="client.closed") from None
                raise
            if self.live is None and self._loss is not None and not await self._backoff.wait():
                # It opens, and breaks before anything could be sent.
                raise copy.copy(self._loss)

    def proved_useful(self) -> None:
        """A connection that carries something is worth connecting for again, at once."""
        self._backoff.reset()

    def leave(self) -> Channel | None:
        """Gives up the connection without ending it, and opens no other."""
        self._closed = True
        channel, self.live = self.live, None
        return channel

    async def _open_first(self) -> None:
        try:
            await self._open()
        finally:
            self._opening = None

    async def _open(self) -> Channel:
        channel = await self._connector.connect()
        try:
            await asyncio.wait_for(_greet(channel), _HELLO_PATIENCE_S)
        except BaseException as error:
            await channel.close()
            if isinstance(error, ChannelLost):
                raise _failed(error.cause) from error
            if isinstance(error, asyncio.TimeoutError):
                raise ConnectionFailed("the server does not say hello", code="connection.timeout") from error
            raise
        self.live = channel
        self._heard_at = time.monotonic()
        self._tasks.spawn(self._read(channel))
        if self.resumes:
            self._tasks.spawn(self._keep_alive(channel))
        return channel

    async def _read(self, channel: Channel) -> None:
        try:
            while True:
                message = _parse(await channel.receive())
                self._heard_at = time.monotonic()
                self._owner.heard(channel, message)
        except ChannelLost as lost:
            cause = lost.cause
        except (KeyError, TypeError, ValueError) as error:
            cause = ProtocolError(f"the server sent a message that cannot be read: {error!r}")
        if self.live is channel:
            self.live, self._loss = None, cause
            if not self.resumes:
                self._owner.lost(cause)
            elif self._owner.needs_link() and self._opening is None:
                self._opening = self._tasks.spawn(self._reopen(cause))
        await channel.close()

    async def _reopen(self, cause: IsolithError) -> None:
        """Connects again, as often as it takes if the new connection breaks meanwhile."""
        logger.info("%s; connecting again", cause.message)
        why = cause.message
        try:
            while self.live is None and self._owner.needs_link():
                if not await self._backoff.wait():
                    hint = f"this was tried for {self._reconnect_s:g} s; the run may go on there"
                    raise ConnectionLost(why, code=cause.code, hint=hint)
                try:
                    await self._owner.take_up(await self._open())
                except ConnectionFailed as error:
                    why = f"{cause.message}; {error.message}"
        except IsolithError as error:
            self._owner.lost(error)
            raise
        finally:
            self._opening = None

    async def _keep_alive(self, channel: Channel) -> None:
        """Finds out that a connection is dead although nobody said so."""
        while self.live is channel:
            await asyncio.sleep(_QUIET_S / 2)
            quiet_s = time.monotonic() - self._heard_at
            if quiet_s > 2 * _QUIET_S:
                # Ends `receive`, which tells everyone.
                await channel.close()
            elif quiet_s > _QUIET_S:
                await channel.send('{"type":"ping"}')


async def _greet(channel: Channel) -> None:
    hello = _parse(await channel.receive())
    if hello.get("type") == "error":
        raise RequestError.from_wire(hello.get("error"))
    if hello.get("type") != "hello":
        raise ChannelLost(ProtocolError(f"the server's first message is {hello.get('type')!r}, not a hello"))


def _parse(text: str) -> dict[str, Any]:
    try:
        message = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ChannelLost(ProtocolError(f"the server sent what is no JSON: {text[:80]!r}")) from error
    if not isinstance(message, dict):
        raise ChannelLost(ProtocolError(f"the server sent what is no message: {text[:80]!r}"))
    return message


def _failed(cause: IsolithError) -> ConnectionFailed:
    """What broke before it began."""
    if isinstance(cause, DaemonDied):
        hint = "does this binary have `isolith serve --stdio`?"
        return ConnectionFailed(cause.message, code="daemon.start", hint=hint)
    return ConnectionFailed(cause.message, code=cause.code, hint=cause.hint)
