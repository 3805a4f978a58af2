"""Tools that real programs call."""

from __future__ import annotations

import asyncio
import datetime as dt
import enum
import sys
import threading
import time
from dataclasses import dataclass
from typing import Annotated, Any

import pydantic
import pytest

from isolith import AsyncIsolith, Tool


class Unit(enum.Enum):
    CELSIUS = "c"
    FAHRENHEIT = "f"


@dataclass
class Place:
    name: str
    altitude_m: float = 0.0


@dataclass
class Weather:
    place: Place
    at: dt.datetime
    unit: Unit


class Order(pydantic.BaseModel):
    id: int
    lines: list[str] = []


def forecast(place: Place, at: dt.datetime, unit: Unit = Unit.CELSIUS) -> Weather:
    """Tells the weather."""
    assert isinstance(place, Place)
    return Weather(place, at + dt.timedelta(hours=1), unit)


def ship(order: Order, times: Annotated[int, pydantic.Field(ge=1)] = 1) -> Order:
    return Order(id=order.id + times, lines=[*order.lines, "shipped"])


async def test_arguments_and_answers_keep_their_types(client: AsyncIsolith) -> None:
    code = """
        const weather = await tools.forecast({place: {name: "Bern"}, at: "2026-01-02T12:00:00Z", unit: "f"});
        const order = await tools.ship({order: {id: 1}, times: 2});
        return [weather, order];
    """
    outcome = await client.run(code, [forecast, ship])
    assert outcome.value_or_raise() == [
        {"place": {"name": "Bern", "altitude_m": 0.0}, "at": "2026-01-02T13:00:00+00:00", "unit": "f"},
        {"id": 3, "lines": ["shipped"]},
    ]
    assert [count.grant for count in outcome.exercised] == ["tool:forecast", "tool:ship"]


CAUGHT = "try { return [await %s] } catch (error) { return [error.name, error.message, error.code ?? null] }"


def fails() -> None:
    raise KeyError("no such row")


def silent() -> None:
    raise RuntimeError


async def fails_later() -> None:
    raise ValueError("later")


async def exits_later() -> None:
    sys.exit(4)


async def cancels() -> None:
    raise asyncio.CancelledError


@pytest.mark.parametrize(
    ("call", "name", "message"),
    [
        ("tools.fails()", "KeyError", "'no such row'"),
        ("tools.silent()", "RuntimeError", "RuntimeError"),
        ("tools.fails_later()", "ValueError", "later"),
        ("tools.not_json()", "TypeError", "the answer of the tool `not_json`: `object` at `rows[0]` has no JSON form"),
        ("tools.huge()", "RangeError", "the answer of the tool `huge` is 17.0 MiB, more than 16 MiB"),
        ("tools.stops()", "RuntimeError", "StopIteration: 5"),
        ("tools.exits()", "RuntimeError", "SystemExit: 3"),
        ("tools.exits_later()", "SystemExit", "4"),
        ("tools.cancels()", "CancelledError", "the tool was cancelled"),
    ],
)
async def test_a_tool_that_fails_can_be_caught(client: AsyncIsolith, call: str, name: str, message: str) -> None:
    def stops() -> None:
        raise StopIteration(5)

    tools: dict[str, Any] = {
        "fails": fails,
        "silent": silent,
        "fails_later": fails_later,
        "not_json": lambda: {"rows": [object()]},
        "huge": lambda: "x" * ((17 << 20) - 2),
        "stops": stops,
        "exits": lambda: sys.exit(3),
        "exits_later": exits_later,
        "cancels": cancels,
    }
    outcome = await client.run(CAUGHT % call, tools)
    assert outcome.value_or_raise()[:2] == [name, message]


async def test_what_does_not_meet_the_schema_never_arrives(client: AsyncIsolith) -> None:
    calls = []

    def add(a: int, b: int) -> int:
        calls.append((a, b))
        return a + b

    for args in ("{a: 1}", "{a: 1, b: 'x'}", "{a: 1, b: 2, c: 3}", "[1, 2]", ""):
        outcome = await client.run(CAUGHT % f"tools.add({args})", [add])
        assert outcome.value_or_raise()[::2] == ["TypeError", "tool.invalid_input"], args
    assert calls == []


async def test_none_is_null_and_no_argument_is_fine(client: AsyncIsolith) -> None:
    given: list[Any] = []
    raw = Tool("raw", given.append)
    outcome = await client.run(
        "return [await tools.raw(), await tools.raw([1, 'a']), await tools.nothing()]", [raw, nothing]
    )
    assert outcome.value_or_raise() == [None, None, None]
    assert given == [None, [1, "a"]]


def nothing(a: int | None = None) -> None:
    assert a is None


async def test_plain_functions_run_side_by_side(client: AsyncIsolith) -> None:
    meeting = threading.Barrier(8, timeout=20)

    def meet() -> str:
        meeting.wait()
        return threading.current_thread().name

    code = "return (await Promise.all(Array.from({length: 8}, () => tools.meet()))).length"
    assert (await client.run(code, [meet])).value_or_raise() == 8


async def test_async_tools_run_on_the_loop_side_by_side(client: AsyncIsolith) -> None:
    home = asyncio.get_running_loop()
    arrived = 0
    everyone = asyncio.Event()

    async def meet() -> None:
        nonlocal arrived
        assert asyncio.get_running_loop() is home
        arrived += 1
        if arrived == 10:
            everyone.set()
        await asyncio.wait_for(everyone.wait(), 20)

    code = "return (await Promise.all(Array.from({length: 10}, () => tools.meet()))).length"
    assert (await client.run(code, [meet])).value_or_raise() == 10


async def test_a_tool_that_outlives_its_run_is_ignored(client: AsyncIsolith) -> None:
    release = threading.Event()
    finished = threading.Event()

    def slow() -> str:
        release.wait(20)
        finished.set()
        return "too late"

    began = time.monotonic()
    outcome = await client.run("tools.slow(); return 'done'", [slow])
    assert outcome.value_or_raise() == "done"
    timed_out = await client.run("return await tools.slow()", [slow], timeout=0.3)
    assert timed_out.error is not None
    assert timed_out.error.kind == "timeout"
    assert time.monotonic() - began < 10
    release.set()
    assert finished.wait(5)
    assert (await client.run("return 1")).ok


async def test_a_tool_may_run_programs_itself(client: AsyncIsolith) -> None:
    async def inner(n: int) -> int:
        value: int = (await client.run("return input * 2", input=n)).value_or_raise()
        return value

    assert (await client.run("return tools.inner({n: 21})", [inner])).value_or_raise() == 42
