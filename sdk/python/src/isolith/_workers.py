"""Threads for tools that are plain functions."""

from __future__ import annotations

import asyncio
import contextvars
import queue
import threading
from collections.abc import Callable
from typing import Any

_Job = Callable[[], None]


class Workers:
    """A few threads that perform calls side by side. They are started when needed and never keep Python from exiting.

    `ThreadPoolExecutor` would: it joins its threads at exit, and a tool that hangs is then a program that hangs.
    """

    def __init__(self, threads_max: int) -> None:
        self._threads_max = threads_max
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._threads = 0
        self._unfinished = 0
        self._closed = False

    async def perform(self, call: Callable[[], Any], context: contextvars.Context) -> Any:
        """Runs the call in a thread, with these context variables, and gives what it returns or raises."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Any] = loop.create_future()

        def settle(value: Any, error: Exception | None) -> None:
            if done.done():
                return
            if error is not None:
                done.set_exception(error)
            else:
                done.set_result(value)

        def job() -> None:
            value: Any = None
            error: Exception | None = None
            try:
                value = context.run(call)
            except StopIteration as raised:
                # A future cannot carry it.
                error = RuntimeError(f"StopIteration: {raised}")
            except Exception as raised:
                error = raised
            except BaseException as raised:
                # `sys.exit()` in a tool ends the call, not the loop that waits for it.
                error = RuntimeError(f"{type(raised).__name__}: {raised}")
            try:
                loop.call_soon_threadsafe(settle, value, error)
            except RuntimeError:
                pass  # The loop is closed: nobody waits for this any more.

        self._submit(job)
        return await done

    def close(self) -> None:
        """Lets free threads go. Those in a tool go when it returns."""
        with self._lock:
            self._closed = True
            for _ in range(self._threads):
                self._jobs.put(None)

    def _submit(self, job: _Job) -> None:
        with self._lock:
            if self._closed:
                raise RuntimeError("the client is closed")
            self._unfinished += 1
            if self._threads < min(self._unfinished, self._threads_max):
                self._threads += 1
                threading.Thread(target=self._work, name="isolith-tool", daemon=True).start()
            self._jobs.put(job)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()
            with self._lock:
                self._unfinished -= 1
