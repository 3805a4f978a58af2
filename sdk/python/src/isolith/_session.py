"""Many runs over one connection at a time."""

from __future__ import annotations

import asyncio
import copy
import json
import logging
import time
from collections.abc import Coroutine
from typing import Any

from ._backoff import Backoff
from ._channel import Channel, ChannelLost, Connector
from ._performer import Performer, reply_error
from ._running import Running, wire_call
from .errors import ClientClosed, ConnectionFailed, ConnectionLost, IsolithError, ProtocolError, RequestError
from .outcome import Outcome, Output

_HELLO_PATIENCE_S = 15.0
_QUIET_S = 20.0
"""How long nothing may come before the other side is asked whether it is there."""
_SENDS_MAX = 8
"""How often one run is sent: again when the server is busy, or the connection broke at the wrong moment."""
RUN_EXISTS = "run.exists"
_CALLS_OPEN_MAX = 100_000
_BUSY_WAIT_MAX_S = 30.0

logger = logging.getLogger("isolith")


class Session:
    """Keeps a connection while there are runs, takes them up again after a broken one, and tells runs what came.

    Nothing that reads ever waits for someone who consumes: one slow reader would stop all other runs.
    """

    def __init__(self, connector: Connector, performer: Performer, reconnect_s: float) -> None:
        self._connector = connector
        self._performer = performer
        self._reconnect_s = reconnect_s
        self._runs: dict[str, Running] = {}
        self._live: Channel | None = None
        self._opening: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._closed = False
        self._heard = 0.0
        self.server_version: str | None = None

    async def begin(self, running: Running) -> None:
        """Sends a run, over a new connection if there is none."""
        channel = await self._channel()
        if running.name in self._runs:
            raise RequestError(f"there is a run called `{running.name}` already", code=RUN_EXISTS, field="run")
        self._runs[running.name] = running
        running.sends += 1
        await channel.send(running.request)

    def cancel(self, name: str) -> None:
        """Stops a run; its outcome comes as usual."""
        if (running := self._runs.get(name)) is not None:
            running.cancelled = True
        if self._live is not None:
            self._spawn(self._live.send(_message("cancel", name)))

    def abandon(self, running: Running) -> None:
        """Stops a run that nobody waits for any more."""
        if running.over or running.abandoned:
            return
        running.abandoned = True
        for task in running.tool_tasks:
            task.cancel()
        if running.name in self._runs:
            self.cancel(running.name)

    async def close(self) -> None:
        """Stops all runs, and ends the connection."""
        self._closed = True
        channel, self._live = self._live, None
        for running in list(self._runs.values()):
            if channel is not None:
                await channel.send(_message("cancel", running.name))
            self._fail(running, ClientClosed("the client was closed", code="client.closed"))
        if self._opening is not None:
            self._opening.cancel()
        others = self._tasks - {asyncio.current_task()}
        for task in others:
            task.cancel()
        if channel is not None:
            await channel.close()
        await asyncio.gather(*others, return_exceptions=True)

    # --- the connection

    async def _channel(self) -> Channel:
        while True:
            if self._closed:
                raise ClientClosed("the client is closed", code="client.closed")
            if self._live is not None:
                return self._live
            if self._opening is None:
                self._opening = self._spawn(self._open_first())
            opening = self._opening
            try:
                # Shielded: others wait for the same connection.
                await asyncio.shield(opening)
            except asyncio.CancelledError:
                if self._closed and opening.cancelled():
                    raise ClientClosed("the client was closed", code="client.closed") from None
                raise

    async def _open_first(self) -> None:
        try:
            await self._open()
        finally:
            self._opening = None

    async def _open(self) -> Channel:
        channel = await self._connector.connect()
        try:
            await asyncio.wait_for(self._greet(channel), _HELLO_PATIENCE_S)
        except BaseException as error:
            await channel.close()
            if isinstance(error, ChannelLost):
                cause = error.cause
                raise ConnectionFailed(cause.message, code=cause.code, hint=cause.hint) from error
            if isinstance(error, asyncio.TimeoutError):
                raise ConnectionFailed("the server does not say hello", code="connection.timeout") from error
            raise
        self._live = channel
        self._spawn(self._read(channel))
        if self._connector.resumes:
            self._spawn(self._keep_alive(channel))
        return channel

    async def _greet(self, channel: Channel) -> None:
        hello = _parse(await channel.receive())
        if hello.get("type") == "error":
            raise RequestError.from_wire(hello.get("error"))
        if hello.get("type") != "hello":
            raise ChannelLost(ProtocolError(f"the server's first message is {hello.get('type')!r}, not a hello"))
        self.server_version = hello.get("version")
        self._heard = time.monotonic()

    async def _read(self, channel: Channel) -> None:
        try:
            while True:
                message = _parse(await channel.receive())
                self._heard = time.monotonic()
                self._dispatch(channel, message)
        except ChannelLost as lost:
            cause = lost.cause
        except (KeyError, TypeError, ValueError) as error:
            cause = ProtocolError(f"the server sent a message that cannot be read: {error!r}")
        if self._live is channel:
            self._live = None
            self._lost(cause)
        await channel.close()

    def _lost(self, cause: IsolithError) -> None:
        if not self._connector.resumes:
            self._fail_all(cause)
        elif self._runs and not self._closed and self._opening is None:
            self._opening = self._spawn(self._reopen(cause))

    async def _reopen(self, cause: IsolithError) -> None:
        """Connects again, and takes up the runs; as often as it takes, if the new connection breaks meanwhile."""
        logger.info("%s; connecting again for %d runs", cause.message, len(self._runs))
        backoff = Backoff(self._reconnect_s)
        try:
            while self._live is None and self._runs:
                try:
                    await self._take_up(await self._open())
                except ConnectionFailed as error:
                    if not await backoff.wait():
                        hint = f"the server was out of reach for {self._reconnect_s:g} s; the run may go on there"
                        lost = ConnectionLost(f"{cause.message}; {error.message}", code="connection.lost", hint=hint)
                        self._fail_all(lost)
                        raise
                except IsolithError as error:
                    self._fail_all(error)
                    raise
        finally:
            self._opening = None

    async def _take_up(self, channel: Channel) -> None:
        for running in list(self._runs.values()):
            running.attaching = True
            await channel.send(_message("attach", running.name))
            if running.cancelled:
                await channel.send(_message("cancel", running.name))

    async def _keep_alive(self, channel: Channel) -> None:
        """Finds out that a connection is dead although nobody said so."""
        while self._live is channel:
            await asyncio.sleep(_QUIET_S / 2)
            quiet_s = time.monotonic() - self._heard
            if quiet_s > 2 * _QUIET_S:
                # Ends `receive`, which tells everyone.
                await channel.close()
            elif quiet_s > _QUIET_S:
                await channel.send('{"type":"ping"}')

    # --- messages

    def _dispatch(self, channel: Channel, message: dict[str, Any]) -> None:
        kind, name = message.get("type"), message.get("run")
        if kind == "error" and name is None:
            # Something sent here was not understood, and whoever waits for its answer would wait for ever.
            raise ChannelLost(RequestError.from_wire(message.get("error")))
        running = self._runs.get(name) if isinstance(name, str) else None
        if running is None:
            return
        if kind == "error":
            self._refused(channel, running, RequestError.from_wire(message.get("error")))
            return
        running.confirmed, running.attaching, running.request = True, False, ""
        if kind == "output":
            running.add_output(Output(message["stream"], message["text"], message.get("at_ms", 0)))
        elif kind == "call":
            self._called(channel, running, message)
        elif kind == "outcome":
            del self._runs[running.name]
            running.finish(Outcome.from_wire({"run": running.name, **message["outcome"]}))

    def _refused(self, channel: Channel, running: Running, error: RequestError) -> None:
        if error.code.startswith("call."):
            # An answer that came twice, or too late.
            logger.debug("run %s: %s", running.name, error.message)
            return
        attaching, running.attaching = running.attaching, False
        if running.sends >= _SENDS_MAX or (running.confirmed and not attaching):
            self._fail(running, error)
        elif error.retry_after is not None and not running.abandoned:
            self._send_again(channel, running, attaching, min(error.retry_after, _BUSY_WAIT_MAX_S))
        elif attaching and not running.confirmed:
            # The connection broke before the server had read of this run. Its name makes sending again safe.
            self._send_again(channel, running, False, 0)
        elif running.sends > 1 and error.code == RUN_EXISTS:
            # It had read of it after all.
            self._send_again(channel, running, True, 0)
        else:
            self._fail(running, error)

    def _send_again(self, channel: Channel, running: Running, attach: bool, after_s: float) -> None:
        running.sends += 1

        async def send() -> None:
            await asyncio.sleep(after_s)
            if not running.over and self._live is channel:
                running.attaching = attach
                await channel.send(_message("attach", running.name) if attach else running.request)

        self._spawn(send())

    def _called(self, channel: Channel, running: Running, message: dict[str, Any]) -> None:
        call = wire_call(message)
        if running.abandoned:
            return
        if running.calls.begin(call.id):
            if len(running.calls.performing) > _CALLS_OPEN_MAX:
                raise ChannelLost(ProtocolError("the server asks for more calls at one time than can be"))
            running.add_call(call)
            # Within the context of who started the run, and not of who reads the connection.
            task = running.context.copy().run(self._spawn, self._perform(running, message))
            running.tool_tasks.add(task)
            task.add_done_callback(running.tool_tasks.discard)
        elif running.calls.answered(call.id):
            # The answer did not arrive before the connection broke.
            lost = "the tool was called, but its answer was lost with a connection"
            reply = running.calls.reply(call.id) or reply_error(running.name, call.id, "Error", lost)
            self._spawn(channel.send(reply))

    async def _perform(self, running: Running, message: dict[str, Any]) -> None:
        call = wire_call(message)
        reply = await self._performer.reply_to(running, call)
        if running.over or running.abandoned:
            return
        running.calls.answer(call.id, reply, keep=self._connector.resumes)
        if self._live is not None:
            await self._live.send(reply)

    # --- endings

    def _fail(self, running: Running, error: IsolithError) -> None:
        self._runs.pop(running.name, None)
        running.fail(copy.copy(error))

    def _fail_all(self, error: IsolithError) -> None:
        for running in list(self._runs.values()):
            self._fail(running, error)

    def _spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finished)
        return task

    def _finished(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            # Whoever waits for it has it too; this keeps what nobody waits for from going unseen.
            logger.debug("a task failed", exc_info=error)


def _parse(text: str) -> dict[str, Any]:
    try:
        message = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ChannelLost(ProtocolError(f"the server sent what is no JSON: {text[:80]!r}")) from error
    if not isinstance(message, dict):
        raise ChannelLost(ProtocolError(f"the server sent what is no message: {text[:80]!r}"))
    return message


def _message(kind: str, run: str) -> str:
    return json.dumps({"type": kind, "run": run})
