"""A local daemon as a child process: JSON lines on its stdin and stdout."""

from __future__ import annotations

import asyncio
import collections
import contextlib
import logging
import os
import shutil
from collections.abc import Mapping, Sequence
from typing import cast

from ._channel import MESSAGE_BYTES_MAX, Channel, ChannelLost
from .errors import ConnectionFailed, DaemonDied, ProtocolError

BINARY_VARIABLE = "ISOLITH_BINARY"
_CHUNK_BYTES = 256 << 10
_STDERR_LINES_KEPT = 20
_STDERR_LINE_BYTES_MAX = 4 << 10
_END_PATIENCE_S = 3.0

logger = logging.getLogger("isolith.daemon")


class DaemonConnector:
    """Starts `isolith serve --stdio`."""

    # The daemon serves this one client, and its runs end with it.
    resumes = False

    def __init__(
        self,
        binary: str | os.PathLike[str] | None = None,
        arguments: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._binary = binary
        self._arguments = tuple(arguments)
        self._environment = environment

    async def connect(self) -> Channel:
        binary = find_binary(self._binary)
        pipe = asyncio.subprocess.PIPE
        try:
            process = await asyncio.create_subprocess_exec(
                *(binary, "serve", "--stdio", *self._arguments),
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
                limit=_CHUNK_BYTES,
                env={**os.environ, **self._environment} if self._environment is not None else None,
                # Ctrl-C is for this program to handle; the daemon ends when its stdin does.
                start_new_session=True,
            )
        except OSError as error:
            raise ConnectionFailed(f"cannot start `{binary}`: {error}", code="daemon.start") from error
        return DaemonChannel(process)


def find_binary(given: str | os.PathLike[str] | None) -> str:
    """The program to start: as given, as the environment says, or from the PATH."""
    named = os.fspath(given) if given is not None else os.environ.get(BINARY_VARIABLE) or "isolith"
    if (found := shutil.which(named)) is None:
        raise ConnectionFailed(
            f"there is no `{named}` to run programs with",
            code="daemon.missing",
            hint=f"install isolith, set {BINARY_VARIABLE} to its path, or connect to a server with `url=`",
        )
    return found


class DaemonChannel:
    """The pipes of a running daemon."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        # All three were asked for as pipes.
        self._stdin = cast(asyncio.StreamWriter, process.stdin)
        self._stdout = cast(asyncio.StreamReader, process.stdout)
        self._sending = asyncio.Lock()
        self._unread = bytearray()
        self._searched = 0
        self._lines: collections.deque[str] = collections.deque(maxlen=_STDERR_LINES_KEPT)
        self._stderr_task = asyncio.create_task(self._read_stderr(cast(asyncio.StreamReader, process.stderr)))

    @property
    def pid(self) -> int:
        return self._process.pid

    async def send(self, text: str) -> None:
        async with self._sending:
            try:
                self._stdin.write(text.encode() + b"\n")
                await self._stdin.drain()
            except (OSError, RuntimeError):
                # Its end is told by `receive`, which knows why.
                return

    async def receive(self) -> str:
        while (end := self._unread.find(b"\n", self._searched)) < 0:
            self._searched = len(self._unread)
            if self._searched > MESSAGE_BYTES_MAX:
                raise ChannelLost(ProtocolError("the daemon sent a message without end"))
            chunk = await self._stdout.read(_CHUNK_BYTES)
            if not chunk:
                raise ChannelLost(await self._died())
            self._unread += chunk
        line = bytes(self._unread[:end])
        del self._unread[: end + 1]
        self._searched = 0
        return line.decode(errors="replace")

    async def close(self) -> None:
        self._stdin.close()
        for end in (self._process.terminate, self._process.kill, None):
            try:
                await asyncio.wait_for(self._process.wait(), _END_PATIENCE_S)
                break
            except asyncio.TimeoutError:
                with contextlib.suppress(ProcessLookupError):
                    if end is not None:
                        end()
        self._stderr_task.cancel()

    async def _died(self) -> DaemonDied:
        exit_code: int | None = None
        with contextlib.suppress(asyncio.TimeoutError):
            # Its stdout is closed, so it is ending or of no more use.
            exit_code = await asyncio.wait_for(self._process.wait(), _END_PATIENCE_S)
            await asyncio.wait_for(asyncio.shield(self._stderr_task), _END_PATIENCE_S)
        said = "\n".join(self._lines)
        how = f"with exit code {exit_code}" if exit_code is not None else "without leaving"
        return DaemonDied(
            f"the isolith daemon ended {how}" + (f":\n{said}" if said else ""),
            exit_code=exit_code,
            hint="the next run starts a new one",
        )

    async def _read_stderr(self, stderr: asyncio.StreamReader) -> None:
        while True:
            try:
                line = await stderr.readline()
            except ValueError:  # longer than the reader's limit: what was read of it is gone
                continue
            if not line:
                return
            text = line[:_STDERR_LINE_BYTES_MAX].decode(errors="replace").rstrip()
            self._lines.append(text)
            logger.debug("%s", text)
