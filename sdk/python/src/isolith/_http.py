"""Plain HTTP requests to the server, for what is no run."""

from __future__ import annotations

import http.client
import json
import ssl as tls
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from .errors import ConnectionFailed, ProtocolError, RequestError

_PATIENCE_S = 60.0
_BODY_BYTES_MAX = 512 << 20


class Http:
    """Asks the server, one connection for each request: these are rare, and nothing stays open."""

    def __init__(self, url: str, key: str | None, ssl: tls.SSLContext | None) -> None:
        self._parts = urlsplit(url)
        self._key = key
        self._ssl = ssl

    def ask(
        self,
        method: str,
        *path: str,
        query: dict[str, Any] | None = None,
        body: Any = None,
        patience_s: float = _PATIENCE_S,
    ) -> Any:
        """The answer's JSON; a `RequestError` when the server refuses, a `ConnectionFailed` when there is none."""
        target = self._parts.path.rstrip("/") + "".join(f"/{quote(part, safe='')}" for part in path)
        if given := {name: value for name, value in (query or {}).items() if value is not None}:
            target += "?" + urlencode(given)
        headers = {"Accept": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        content = None
        if body is not None:
            content = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        connection = self._connection(patience_s)
        try:
            connection.request(method, target, body=content, headers=headers)
            answer = connection.getresponse()
            text = answer.read(_BODY_BYTES_MAX)
        except (OSError, http.client.HTTPException) as error:
            where = f"{self._parts.scheme}://{self._parts.netloc}"
            raise ConnectionFailed(f"cannot ask {where}: {error}", code="connection.failed") from error
        finally:
            connection.close()
        return _read(answer.status, text)

    def _connection(self, patience_s: float) -> http.client.HTTPConnection:
        host, port = self._parts.hostname or "", self._parts.port
        if self._parts.scheme in ("https", "wss"):
            context = self._ssl or tls.create_default_context()
            return http.client.HTTPSConnection(host, port, timeout=patience_s, context=context)
        return http.client.HTTPConnection(host, port, timeout=patience_s)


def _read(status: int, text: bytes) -> Any:
    try:
        content = json.loads(text) if text else None
    except ValueError as wrong:
        if status < 400:
            raise ProtocolError(f"the server answers with what is no JSON: {text[:80]!r}") from wrong
        content = None
    if status < 400:
        return content
    error = content.get("error") if isinstance(content, dict) else None
    plain = {"code": f"http.{status}", "message": f"the server answers with status {status}"}
    raise RequestError.from_wire(error or plain, status=status)
