"""A WebSocket client (RFC 6455) over asyncio's streams: text messages, no extensions."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import os
import ssl as tls
import struct
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from ._channel import MESSAGE_BYTES_MAX, Channel, ChannelLost
from ._frames import BadFrame, Opcode, client_frame, read_head
from ._handshake import read_answer, refusal
from .errors import ConnectionFailed, ConnectionLost, ProtocolError

_ACCEPT_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_CONNECT_PATIENCE_S = 15.0
_CLOSE_PATIENCE_S = 2.0
_STREAM_BYTES = 256 << 10


@dataclass
class WebSocketConnector:
    """Opens `<url>/v1/socket`, with the key as a bearer token."""

    url: str
    key: str | None = field(default=None, repr=False)
    ssl: tls.SSLContext | None = None
    resumes: bool = True

    async def connect(self) -> Channel:
        try:
            return await asyncio.wait_for(self._open(), _CONNECT_PATIENCE_S)
        except asyncio.TimeoutError as error:
            message = f"{self.url} did not answer within {_CONNECT_PATIENCE_S:g} s"
            raise ConnectionFailed(message, code="connection.timeout") from error
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
            if isinstance(error, ConnectionFailed):
                raise
            message = f"cannot connect to {self.url}: {error}"
            hint = "is `isolith serve` running there?"
            raise ConnectionFailed(message, code="connection.failed", hint=hint) from error

    async def _open(self) -> Channel:
        parts = urlsplit(self.url)
        secure = parts.scheme in ("https", "wss")
        host = parts.hostname or ""
        reader, writer = await asyncio.open_connection(
            host,
            parts.port or (443 if secure else 80),
            ssl=(self.ssl or tls.create_default_context()) if secure else None,
            limit=_STREAM_BYTES,
        )
        try:
            nonce = base64.b64encode(os.urandom(16))
            lines = [
                f"GET {parts.path.rstrip('/')}/v1/socket HTTP/1.1",
                f"Host: {parts.netloc.rpartition('@')[2]}",
                "Upgrade: websocket",
                "Connection: Upgrade",
                f"Sec-WebSocket-Key: {nonce.decode()}",
                "Sec-WebSocket-Version: 13",
                *([f"Authorization: Bearer {self.key}"] if self.key else []),
            ]
            writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
            await writer.drain()
            answer = await read_answer(reader)
            if answer.status != 101:
                raise await refusal(answer, reader, self.url)
            # Proves that the other side read this very request, and is no HTTP server that says 101 to anything.
            expected = base64.b64encode(hashlib.sha1(nonce + _ACCEPT_GUID, usedforsecurity=False).digest()).decode()
            if answer.headers.get("sec-websocket-accept") != expected:
                raise ConnectionFailed(f"{self.url} does not speak WebSocket", code="connection.protocol")
        except BaseException:
            writer.close()
            raise
        return WebSocketChannel(reader, writer)


class WebSocketChannel:
    """A WebSocket that is open."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._sending = asyncio.Lock()

    async def send(self, text: str) -> None:
        await self._send(Opcode.TEXT, text.encode())

    async def receive(self) -> str:
        try:
            return (await self._message()).decode()
        except (OSError, asyncio.IncompleteReadError) as error:
            raise ChannelLost(_lost("the connection broke")) from error
        except (BadFrame, UnicodeDecodeError) as error:
            raise ChannelLost(ProtocolError(f"the server sent what is no message: {error}")) from error

    async def close(self) -> None:
        # A normal closure. The transport is aborted if the other side does not take the goodbye.
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._send(Opcode.CLOSE, struct.pack("!H", 1000)), _CLOSE_PATIENCE_S)
        self._writer.close()
        try:
            await asyncio.wait_for(self._writer.wait_closed(), _CLOSE_PATIENCE_S)
        except (OSError, asyncio.TimeoutError):
            self._writer.transport.abort()

    async def _message(self) -> bytes:
        message: bytearray | None = None
        while True:
            head = read_head(await self._reader.readexactly(2))
            length = head.length
            if head.length_bytes:
                length = int.from_bytes(await self._reader.readexactly(head.length_bytes), "big")
            if length + len(message or b"") > MESSAGE_BYTES_MAX:
                raise BadFrame("a message is too large")
            payload = await self._reader.readexactly(length)
            if head.opcode is Opcode.PING:
                await self._send(Opcode.PONG, payload)
            elif head.opcode is Opcode.CLOSE:
                raise ChannelLost(_closed(payload))
            elif head.opcode is Opcode.TEXT and message is None:
                message = bytearray(payload)
            elif head.opcode is Opcode.CONTINUATION and message is not None:
                message += payload
            elif head.opcode is not Opcode.PONG:
                raise BadFrame(f"a {head.opcode.name.lower()} frame where none can be")
            if head.final and not head.is_control and message is not None:
                return bytes(message)

    async def _send(self, opcode: Opcode, payload: bytes) -> None:
        frame = client_frame(opcode, payload)
        async with self._sending:
            try:
                self._writer.write(frame)
                await self._writer.drain()
            except (OSError, RuntimeError):
                # Its end is told by `receive`, which knows why.
                return


def _closed(payload: bytes) -> ConnectionLost:
    if len(payload) < 2:
        return _lost("the server closed the connection")
    code, reason = int.from_bytes(payload[:2], "big"), payload[2:].decode(errors="replace")
    return _lost(f"the server closed the connection ({code}{f': {reason}' if reason else ''})")


def _lost(message: str) -> ConnectionLost:
    return ConnectionLost(message, code="connection.lost")
