"""The client for code without asyncio: the same one, on an event loop in a thread of its own."""

from __future__ import annotations

import asyncio
import functools
import os
import threading
import weakref
from collections.abc import Callable, Coroutine, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from ._request import RunOptions
from .client import AsyncIsolith, Settings
from .errors import ClientClosed
from .outcome import Event, Outcome, Output
from .server import Approvals, Audit, Runs, Secrets
from .stream import RunStream
from .tool import ToolsLike

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

T = TypeVar("T")
_CLOSE_PATIENCE_S = 15.0


class Isolith:
    """Runs programs: in a local daemon that is started when it is first needed, or on a server.

    Takes what `AsyncIsolith` takes. May be used from many threads at once.
    """

    def __init__(self, url: str | None = None, key: str | None = None, **settings: Unpack[Settings]) -> None:
        self._make = functools.partial(AsyncIsolith, url, key, **settings)
        self._client = self._make()
        self._lock = threading.Lock()
        self._closed = False
        self._running: _Engine | None = None
        self._finalizer: weakref.finalize[[], Isolith] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def run(
        self,
        code: str,
        tools: ToolsLike | None = None,
        *,
        on_output: Callable[[Output], object] | None = None,
        **options: Unpack[RunOptions],
    ) -> Outcome:
        """Runs a program to its end. That it failed is an outcome as well; an interrupt (Ctrl-C) stops the program."""
        if on_output is None:
            return self._wait(self._engine().client.run(code, tools, **options))
        with self.stream(code, tools, **options) as stream:
            for event in stream:
                # In the thread of the caller: what takes long here holds up nobody else.
                if isinstance(event, Output):
                    on_output(event)
            return stream.outcome()

    def stream(self, code: str, tools: ToolsLike | None = None, **options: Unpack[RunOptions]) -> BlockingStream:
        """Runs a program and yields what happens: outputs, tool calls, and at last the outcome."""

        async def make() -> RunStream:
            return self._engine().client.stream(code, tools, **options)

        return BlockingStream(self, self._wait(make()))

    def cancel(self, run: str) -> None:
        """Stops a run of this client by its name, from any thread. Its outcome comes as usual."""
        engine = self._engine()
        engine.loop.call_soon_threadsafe(engine.client.cancel, run)

    @property
    def runs(self) -> Runs:
        """The runs that the server knows. Needs a `url`."""
        return Runs(self._client._server())

    @property
    def approvals(self) -> Approvals:
        """What the caller's runs ask about. Needs a `url`."""
        return Approvals(self._client._server())

    @property
    def secrets(self) -> Secrets:
        """The secrets that the server keeps. Needs a `url`."""
        return Secrets(self._client._server())

    def audit(self, *, run: str | None = None, denied: bool | None = None, host: str | None = None) -> list[Any]:
        """What runs did and were refused. Needs a `url`."""
        return Audit(self._client._server()).list(run=run, denied=denied, host=host)

    def close(self) -> None:
        """Stops the runs that go on, and ends the connection or the daemon."""
        self._closed = True
        if self._finalizer is not None:
            self._finalizer()

    def _engine(self) -> _Engine:
        with self._lock:
            if self._closed:
                raise ClientClosed("the client is closed", code="client.closed")
            if self._running is not None and self._running.process_id != os.getpid():
                # After a fork there is no thread, and the daemon is the parent's. The old engine is kept from being
                # collected, which would end the parent's daemon.
                _ENGINES_OF_PARENTS.append(self._running)
                self._running, self._client = None, self._make()
            if self._running is None:
                self._running = _Engine(self._client)
                # Also when the client is forgotten, and when Python exits.
                self._finalizer = weakref.finalize(self, self._running.stop)
            return self._running

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        engine = self._engine()
        if engine.thread is threading.current_thread():
            work.close()
            hint = "use `AsyncIsolith` in async tools"
            raise ClientClosed("waiting here would wait for itself", code="client.loop", hint=hint)
        future = asyncio.run_coroutine_threadsafe(work, engine.loop)
        try:
            return future.result()
        except BaseException:
            # An interrupt, most likely; when it is the run's own failure, there is nothing left to cancel.
            future.cancel()
            raise


class BlockingStream:
    """The events of one run, in order; the last one is its outcome. Leaving it early stops the run."""

    def __init__(self, client: Isolith, stream: RunStream) -> None:
        self._client = client
        self._stream = stream

    @property
    def run(self) -> str:
        """The name of the run."""
        return self._stream.run

    def __enter__(self) -> Self:
        self._client._wait(self._stream.begin())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __iter__(self) -> Iterator[Event]:
        try:
            while True:
                event = self._client._wait(self._stream.next_event())
                yield event
                if isinstance(event, Outcome):
                    return
        finally:
            self.close()

    def outcome(self) -> Outcome:
        """The outcome, leaving out whatever comes before it."""
        return self._client._wait(self._stream.outcome())

    def cancel(self) -> None:
        """Stops the run, from any thread. Its outcome comes as usual, with an error of the kind `cancelled`."""
        self._client.cancel(self.run)

    def close(self) -> None:
        """Stops the run if it goes on, without waiting for its outcome."""
        engine = self._client._running
        if engine is not None and not engine.loop.is_closed():
            engine.loop.call_soon_threadsafe(self._stream.close)


class _Engine:
    """An event loop in a thread, and the client on it."""

    def __init__(self, client: AsyncIsolith) -> None:
        self.client = client
        self.process_id = os.getpid()
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, name="isolith", daemon=True)
        self.thread.start()

    def stop(self) -> None:
        if self.process_id != os.getpid() or self.loop.is_closed():
            return
        if self.thread is threading.current_thread():
            # The client was forgotten here, where nobody can wait for what happens here.
            self.loop.create_task(self.client.close()).add_done_callback(lambda _: self.loop.stop())
            return
        try:
            asyncio.run_coroutine_threadsafe(self.client.close(), self.loop).result(_CLOSE_PATIENCE_S)
        finally:
            self.loop.call_soon_threadsafe(self.loop.stop)
            self.thread.join(_CLOSE_PATIENCE_S)
            if not self.loop.is_running():
                self.loop.close()


_ENGINES_OF_PARENTS: list[_Engine] = []
