"""Where a server is, checked before anything is sent there."""

from __future__ import annotations

from urllib.parse import urlsplit

from .errors import RequestError

_SCHEMES = ("http", "https", "ws", "wss")


def check_address(url: str, key: str | None) -> None:
    """Refuses addresses that lead nowhere, and keys that would change the request they are put into."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in _SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or parts.query or parts.fragment or not url.isprintable() or " " in url:
        hint = "give the server's address: `http://127.0.0.1:4747` or `https://isolith.example.com`"
        raise RequestError(f"{url!r} is no address of a server", code="client.url", hint=hint)
    if key is not None and not (key.isascii() and key.isprintable() and " " not in key and key):
        raise RequestError("the key has characters that no key has", code="client.key")
