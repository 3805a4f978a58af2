"""What tools answer, as JSON."""

from __future__ import annotations

import collections
import datetime as dt
import decimal
import enum
import json
import pathlib
import types
import uuid
from dataclasses import dataclass
from typing import Any

import pydantic
import pytest

from isolith.results import NotJson, to_json


class Level(enum.Enum):
    HIGH = 3


class Flag(enum.IntEnum):
    ON = 1


@dataclass
class Reading:
    at: dt.datetime
    level: Level


class Model(pydantic.BaseModel):
    day: dt.date


Row = collections.namedtuple("Row", "a b")
NOON = dt.datetime(2026, 1, 2, 12, tzinfo=dt.timezone.utc)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        ({"ä": [1, 2.5, True]}, {"ä": [1, 2.5, True]}),
        (Reading(NOON, Level.HIGH), {"at": "2026-01-02T12:00:00+00:00", "level": 3}),
        ([Model(day=dt.date(2026, 1, 2))], [{"day": "2026-01-02"}]),
        (Flag.ON, 1),
        (Row(1, 2), [1, 2]),
        ({1, 2}, [1, 2]),
        (types.MappingProxyType({"a": 1}), {"a": 1}),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (decimal.Decimal("1.10"), "1.10"),
        (pathlib.PurePosixPath("/tmp"), "/tmp"),
        ({1: "a"}, {"1": "a"}),
    ],
)
def test_values_have_a_json_form(value: Any, expected: Any) -> None:
    assert json.loads(to_json(value)) == expected


def cycle() -> list[Any]:
    around: list[Any] = []
    around.append({"again": around})
    return around


def deep() -> list[Any]:
    nested: list[Any] = []
    for _ in range(100_000):
        nested = [nested]
    return nested


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (b"x", "`bytes` has no JSON form: encode bytes as base64 first"),
        ({"rows": [1, object()]}, "`object` at `rows[1]` has no JSON form"),
        ({"a": float("nan")}, "nan at `a` is no JSON number"),
        ({(1, 2): 3}, "the key (1, 2) is no string"),
        ({"a": "\ud800"}, "a string at `a` has half a surrogate pair"),
        (cycle(), "it contains itself at `[0].again`"),
        (deep(), "it is nested too deep"),
        (lambda: 1, "`function` has no JSON form"),
        (Reading, "`type` has no JSON form"),
    ],
)
def test_values_without_one_are_explained(value: Any, message: str) -> None:
    with pytest.raises(NotJson) as refused:
        to_json(value)
    assert str(refused.value) == message
