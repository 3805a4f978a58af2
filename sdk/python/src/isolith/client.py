"""The client for asyncio."""

from __future__ import annotations

import asyncio
import inspect
import itertools
import os
import secrets as chance
import ssl as tls
from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypedDict

from ._address import check_address
from ._approvals import Decider
from ._channel import Connector
from ._daemon import DaemonConnector
from ._http import Http
from ._performer import Performer
from ._request import RunOptions, run_message
from ._running import Running
from ._session import Session
from ._websocket import WebSocketConnector
from ._workers import Workers
from .approval import Approver
from .errors import ClientClosed
from .outcome import Outcome, Output
from .server import AsyncApprovals, AsyncRuns, AsyncSecrets, Audit
from .stream import RunStream
from .tool import ToolsLike, collect

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

OnOutput = Callable[[Output], Awaitable[None] | None]

RUNS_AT_ONCE_MAX = 256
TOOL_THREADS_MAX = 32
RECONNECT_S = 60.0


class Settings(TypedDict, total=False):
    """What a client may be told besides where its server is."""

    binary: str | os.PathLike[str] | None
    daemon_arguments: Sequence[str]
    environment: Mapping[str, str] | None
    ssl: tls.SSLContext | None
    reconnect_s: float
    runs_at_once: int
    tool_threads: int
    approve: Approver | None


class AsyncIsolith:
    """Runs programs: in a local daemon that is started when it is first needed, or on a server."""

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        binary: str | os.PathLike[str] | None = None,
        daemon_arguments: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        ssl: tls.SSLContext | None = None,
        reconnect_s: float = RECONNECT_S,
        runs_at_once: int = RUNS_AT_ONCE_MAX,
        tool_threads: int = TOOL_THREADS_MAX,
        approve: Approver | None = None,
    ) -> None:
        """Without `url`, a daemon is started: `binary`, else `$ISOLITH_BINARY`, else `isolith` from the PATH.

        `daemon_arguments` (`["--policy", "policy.toml"]`) and `environment` are for the daemon; `key` and `ssl` for a
        server. `reconnect_s` is how long a lost server is tried again before runs fail, `runs_at_once` how many runs
        are sent before further ones wait here, `tool_threads` how many plain functions run side by side. `approve`
        decides about calls that a grant asks about, in runs that do not say otherwise.
        """
        self._http: Http | None = None
        connector: Connector
        if url is None:
            connector = DaemonConnector(binary, daemon_arguments, environment)
        else:
            check_address(url, key)
            connector = WebSocketConnector(url, key, ssl)
            self._http = Http(url, key, ssl)
        self._workers = Workers(tool_threads)
        # Of their own: people think for long, and tools should not wait for that.
        self._deciders = Workers(tool_threads)
        self._approve = approve
        self._session = Session(connector, Performer(self._workers), Decider(self._deciders), reconnect_s)
        self._places = asyncio.Semaphore(runs_at_once)
        self._names = map("{}-{}".format, itertools.repeat(chance.token_hex(8)), itertools.count())
        self._loop: asyncio.AbstractEventLoop | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def run(
        self,
        code: str,
        tools: ToolsLike | None = None,
        *,
        on_output: OnOutput | None = None,
        **options: Unpack[RunOptions],
    ) -> Outcome:
        """Runs a program to its end. That it failed is an outcome as well; cancelling this stops the program."""
        stream = self._stream(code, tools, options, watched=on_output is not None)
        async with stream:
            if on_output is None:
                return await stream.outcome()
            async for event in stream:
                if isinstance(event, Output) and inspect.isawaitable(waiting := on_output(event)):
                    await waiting
            return await stream.outcome()

    def stream(self, code: str, tools: ToolsLike | None = None, **options: Unpack[RunOptions]) -> RunStream:
        """Runs a program and yields what happens: outputs, tool calls, and at last the outcome."""
        return self._stream(code, tools, options, watched=True)

    def cancel(self, run: str) -> None:
        """Stops a run of this client by its name. Its outcome comes as usual."""
        self._session.cancel(run)

    @property
    def runs(self) -> AsyncRuns:
        """The runs that the server knows. Needs a `url`."""
        return AsyncRuns(self._server())

    @property
    def approvals(self) -> AsyncApprovals:
        """What the caller's runs ask about. Needs a `url`."""
        return AsyncApprovals(self._server())

    @property
    def secrets(self) -> AsyncSecrets:
        """The secrets that the server keeps. Needs a `url`."""
        return AsyncSecrets(self._server())

    async def audit(self, *, run: str | None = None, denied: bool | None = None, host: str | None = None) -> list[Any]:
        """What runs did and were refused. Needs a `url`."""
        return await asyncio.to_thread(Audit(self._server()).list, run=run, denied=denied, host=host)

    async def close(self) -> None:
        """Stops the runs that go on, and ends the connection or the daemon."""
        await self._session.close()
        self._workers.close()
        self._deciders.close()

    def _stream(self, code: str, tools: ToolsLike | None, options: RunOptions, *, watched: bool) -> RunStream:
        self._check_loop()
        collected = collect(tools)
        run = options.get("run") or next(self._names)
        approve = options.get("approve") or self._approve
        running = Running(run, run_message(run, code, collected, options), collected, approve, watched=watched)
        return RunStream(self._session, running, self._places)

    def _check_loop(self) -> None:
        # Pipes and sockets belong to the loop that opened them; a second one would wait for ever.
        loop = asyncio.get_running_loop()
        self._loop = self._loop or loop
        if self._loop is not loop:
            hint = "make one client for each event loop, or use the blocking `Isolith`"
            raise ClientClosed("the client belongs to another event loop", code="client.loop", hint=hint)

    def _server(self) -> Http:
        if self._http is None:
            hint = "this needs a server: `AsyncIsolith(url=…)`"
            raise ClientClosed("a local daemon keeps nothing to ask for", code="client.local", hint=hint)
        return self._http
