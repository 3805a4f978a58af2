"""What goes into a program, as JSON: inputs, arguments and the answers of tools."""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import enum
import json
import pathlib
import uuid
from collections.abc import Iterator, Mapping, Set
from typing import Any

_AS_TEXT = (uuid.UUID, decimal.Decimal, pathlib.PurePath)


class NotJson(TypeError):
    """A value that has no JSON form. Says where in it, and what to do."""


def to_json(value: Any) -> str:
    """The value as JSON text; `NotJson` when it has none."""
    try:
        text = json.dumps(value, default=_plain, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
        # Strings with half a surrogate pair are no text, and no encoding can carry them.
        text.encode()
        return text
    except (TypeError, ValueError, RecursionError) as error:
        raise NotJson(_explain(value, error)) from error


def _plain(value: Any) -> Any:
    """What stands for a value that is not JSON itself."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if callable(dump := getattr(value, "model_dump", None)) and not isinstance(value, type):
        return dump(mode="json")
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, (dt.datetime, dt.date, dt.time)):
        return value.isoformat()
    if isinstance(value, _AS_TEXT):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Set):
        return list(value)
    raise TypeError


def _explain(value: Any, error: Exception) -> str:
    """Says where the value is not JSON. Slow, and only asked for when something is wrong."""
    try:
        found = next(_problems(value, "", ()), None)
    except RecursionError:
        found = "it is nested too deep"
    return found or str(error) or type(error).__name__


def _problems(value: Any, where: str, around: tuple[int, ...]) -> Iterator[str]:
    at = f" at `{where.lstrip('.')}`" if where else ""
    if id(value) in around:
        yield f"it contains itself{at}"
    elif isinstance(value, str):
        if any("\ud800" <= letter <= "\udfff" for letter in value):
            yield f"a string{at} has half a surrogate pair"
    elif isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            yield f"{value}{at} is no JSON number"
    elif isinstance(value, dict):
        for key, one in value.items():
            if not isinstance(key, (str, int, float, bool, type(None))):
                yield f"the key {key!r:.80}{at} is no string"
            yield from _problems(key, where, ()) if isinstance(key, str) else ()
            yield from _problems(one, f"{where}.{key}", (*around, id(value)))
    elif isinstance(value, (list, tuple)):
        for index, one in enumerate(value):
            yield from _problems(one, f"{where}[{index}]", (*around, id(value)))
    elif not isinstance(value, (int, bool, type(None))):
        try:
            plain = _plain(value)
        except TypeError:
            extra = ": encode bytes as base64 first" if isinstance(value, (bytes, bytearray)) else ""
            yield f"`{type(value).__name__}`{at} has no JSON form{extra}"
        else:
            yield from _problems(plain, where, (*around, id(value)))
