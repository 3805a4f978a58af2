"""Types that are one JSON string, number or boolean."""

from __future__ import annotations

import datetime as dt
import decimal
import pathlib
import uuid
from collections.abc import Callable
from typing import Any

Read = Callable[[Any], Any]

_JSON_NAMES = {
    str: "a string",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    list: "an array",
    dict: "an object",
}


class ArgumentError(TypeError):
    """A tool was called with something it does not take. The program that called it sees this message."""

    def __init__(self, problem: str, where: str = "") -> None:
        self.problem = problem
        self.where = where
        super().__init__(f"`{where.lstrip('.')}`: {problem}" if where else problem)


def expected(kind: type, value: Any, called: str) -> Any:
    """The value, if it is of this JSON type."""
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        shown = "null" if value is None else _JSON_NAMES.get(type(value), type(value).__name__)
        raise ArgumentError(f"expected {called}, not {shown}")
    return value


def read_null(value: Any) -> None:
    if value is not None:
        expected(type(None), value, "null")


def _read_int(value: Any) -> int:
    # JavaScript has one kind of number, and JSON Schema calls 1.0 an integer.
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return int(expected(int, value, "an integer"))


def _read_float(value: Any) -> float:
    return float(expected((int, float), value, "a number"))  # type: ignore[arg-type]


def _of_text(build: Callable[[str], Any], called: str) -> Read:
    def read(value: Any) -> Any:
        text = expected(str, value, called)
        try:
            return build(text)
        except (ValueError, ArithmeticError) as error:
            raise ArgumentError(f"expected {called}, not {text!r:.80}") from error

    return read


def _read_decimal(value: Any) -> decimal.Decimal:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return decimal.Decimal(str(value))
    return decimal.Decimal(_of_text(decimal.Decimal, "a decimal number")(value))


def _zone(text: str) -> str:
    # `toISOString()` ends in Z, which Python 3.10 does not read.
    return f"{text[:-1]}+00:00" if text.endswith(("Z", "z")) else text


def _datetime(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(_zone(text))


def _time(text: str) -> dt.time:
    return dt.time.fromisoformat(_zone(text))


SCALARS: dict[Any, tuple[dict[str, Any], Read]] = {
    str: ({"type": "string"}, lambda value: expected(str, value, "a string")),
    bool: ({"type": "boolean"}, lambda value: expected(bool, value, "a boolean")),
    int: ({"type": "integer"}, _read_int),
    float: ({"type": "number"}, _read_float),
    dt.datetime: ({"type": "string", "format": "date-time"}, _of_text(_datetime, "a date and time (ISO 8601)")),
    dt.date: ({"type": "string", "format": "date"}, _of_text(dt.date.fromisoformat, "a date (ISO 8601)")),
    dt.time: ({"type": "string", "format": "time"}, _of_text(_time, "a time (ISO 8601)")),
    uuid.UUID: ({"type": "string", "format": "uuid"}, _of_text(uuid.UUID, "a UUID")),
    decimal.Decimal: ({"type": ["string", "number"]}, _read_decimal),
    pathlib.Path: ({"type": "string"}, _of_text(pathlib.Path, "a path")),
    pathlib.PurePath: ({"type": "string"}, _of_text(pathlib.PurePath, "a path")),
}
