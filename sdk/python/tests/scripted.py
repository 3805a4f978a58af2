"""A server whose every word is written by a test: for what a real one does only by accident.

It stands on the `websockets` package, so that our own WebSocket meets an implementation that is not ours.
"""

from __future__ import annotations

import asyncio
import json
import ssl
from types import TracebackType
from typing import Any

from typing_extensions import Self
from websockets.asyncio.server import Server, ServerConnection, serve

PATIENCE_S = 10


class Peer:
    """One connection of a client."""

    def __init__(self, connection: ServerConnection) -> None:
        self.connection = connection
        self.done = asyncio.Event()

    async def expect(self, kind: str) -> dict[str, Any]:
        """The next message, which has to be of this kind."""
        message: dict[str, Any] = json.loads(await asyncio.wait_for(self.connection.recv(), PATIENCE_S))
        assert message["type"] == kind, message
        return message

    async def say(self, kind: str, **fields: Any) -> None:
        await self.connection.send(json.dumps({"type": kind, **fields}))

    async def call(self, run: str, call: int, name: str, args: Any = None) -> None:
        await self.say("call", run=run, call=call, name=name, args=args)

    async def outcome(self, run: str, value: Any = None) -> None:
        await self.say("outcome", run=run, outcome={"status": "ok", "value": value, "outputs": []})

    async def refuse(self, run: str | None, code: str, **more: Any) -> None:
        named = {"run": run} if run is not None else {}
        await self.say("error", **named, error={"code": code, "message": f"refused: {code}", **more})

    def drop(self) -> None:
        """Breaks the connection without a goodbye."""
        self.connection.transport.abort()
        self.done.set()


class ScriptedServer:
    """Hands each connection to the test."""

    def __init__(self, tls: ssl.SSLContext | None = None, hello: bool = True, key: str | None = None) -> None:
        self._tls = tls
        self._hello = hello
        self._key = key
        self._peers: asyncio.Queue[Peer] = asyncio.Queue()
        self._server: Server | None = None
        self.port = 0

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://localhost:{self.port}"

    async def start(self) -> None:
        self._server = await serve(
            self._handle, "localhost", self.port or None, ssl=self._tls, process_request=self._check, max_size=None
        )
        self.port = next(iter(self._server.sockets)).getsockname()[1]

    def stop(self) -> None:
        if self._server is not None:
            self._server.close()

    async def peer(self) -> Peer:
        """The next connection."""
        return await asyncio.wait_for(self._peers.get(), PATIENCE_S)

    def _check(self, connection: ServerConnection, request: Any) -> Any:
        if self._key is not None and request.headers.get("Authorization") != f"Bearer {self._key}":
            body = {"error": {"code": "auth.missing", "message": "a key is needed", "hint": "make one"}}
            return connection.respond(401, json.dumps(body))
        return None if request.path == "/v1/socket" else connection.respond(404, "no")

    async def _handle(self, connection: ServerConnection) -> None:
        peer = Peer(connection)
        if self._hello:
            await peer.say("hello", version="scripted")
        await self._peers.put(peer)
        await peer.done.wait()
