"""The real binary, as a daemon and as a server; its data in a temporary folder."""

from __future__ import annotations

import contextlib
import http.client
import os
import shutil
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from isolith import AsyncIsolith, Isolith

BINARY_VARIABLE = "ISOLITH_BINARY"
START_PATIENCE_S = 20.0
STOP_PATIENCE_S = 20.0


@pytest.fixture(scope="session")
def binary() -> str:
    """The isolith binary. Its absence fails tests: skipping them would say that all is well."""
    named = os.environ.get(BINARY_VARIABLE, "isolith")
    found = shutil.which(named)
    if found is None:
        pytest.fail(f"there is no `{named}`: set {BINARY_VARIABLE} to the binary to test with", pytrace=False)
    return found


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for what isolith keeps."""
    folder = tmp_path / "data"
    monkeypatch.setenv("ISOLITH_DATA", str(folder))
    return folder


@pytest.fixture
def isolith(binary: str, data: Path) -> Iterator[Isolith]:
    """A blocking client with a daemon."""
    with Isolith(binary=binary) as client:
        yield client


@pytest.fixture
async def client(binary: str, data: Path) -> AsyncIterator[AsyncIsolith]:
    """A client with a daemon."""
    async with AsyncIsolith(binary=binary) as client:
        yield client


class Server:
    """`isolith serve` on a port of its own, which can be stopped and started again."""

    def __init__(self, binary: str) -> None:
        self._binary = binary
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        self._process = subprocess.Popen([self._binary, "serve", "--listen", f"127.0.0.1:{self.port}"])
        deadline = time.monotonic() + START_PATIENCE_S
        while not self._is_well():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.kill()
                pytest.fail(f"`{self._binary} serve` does not start", pytrace=False)
            time.sleep(0.02)

    def stop(self) -> None:
        """Lets it finish in good order."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(STOP_PATIENCE_S)
            self._process = None

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _is_well(self) -> bool:
        with contextlib.suppress(OSError, http.client.HTTPException):
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=2)
            connection.request("GET", "/healthz")
            return connection.getresponse().status == 200
        return False


@pytest.fixture
def server(binary: str, data: Path) -> Iterator[Server]:
    """A running server."""
    server = Server(binary)
    server.start()
    yield server
    server.kill()
