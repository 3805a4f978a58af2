"""The HTTP answer at the beginning of a WebSocket."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass

from .errors import ConnectionFailed, IsolithError, RequestError

_HEADER_LINES_MAX = 100
_BODY_BYTES_MAX = 64 << 10
_CLIENT_ERRORS = range(400, 500)
_TRY_AGAIN = (408, 425, 429)


@dataclass(frozen=True, slots=True)
class Answer:
    """A status and headers, their names in small letters."""

    status: int
    headers: dict[str, str]


async def read_answer(reader: asyncio.StreamReader) -> Answer:
    """Reads the head of an HTTP answer."""
    first = (await reader.readuntil(b"\r\n")).decode("latin-1").split(None, 2)
    if len(first) < 2 or not first[0].startswith("HTTP/1.") or not first[1].isdigit():
        raise ConnectionFailed("the server does not speak HTTP", code="connection.protocol")
    headers: dict[str, str] = {}
    for _ in range(_HEADER_LINES_MAX):
        line = (await reader.readuntil(b"\r\n")).decode("latin-1").strip()
        if not line:
            return Answer(int(first[1]), headers)
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    raise ConnectionFailed("the server answers with too many headers", code="connection.protocol")


async def refusal(answer: Answer, reader: asyncio.StreamReader, url: str) -> IsolithError:
    """Why there is no WebSocket: a `RequestError` when asking again is of no use, else a `ConnectionFailed`."""
    length = answer.headers.get("content-length", "0")
    body = b""
    if length.isdigit() and 0 < int(length) <= _BODY_BYTES_MAX:
        body = await reader.readexactly(int(length))
    message = f"{url} answers with status {answer.status}"
    if answer.status not in _CLIENT_ERRORS or answer.status in _TRY_AGAIN:
        return ConnectionFailed(message, code="connection.failed")
    try:
        error = json.loads(body)["error"]
    except (ValueError, KeyError, TypeError):
        error = {"code": f"http.{answer.status}", "message": message}
    return RequestError.from_wire(error, status=answer.status)
