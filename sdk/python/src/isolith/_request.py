"""What a run is asked for, as the protocol says it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

from .approval import Approver
from .errors import RequestError
from .results import NotJson, to_json
from .tool import Tool

REQUEST_BYTES_MAX = 24 << 20
"""A server hangs up on whoever sends more at once, and other runs would suffer for it."""
RUN_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
Language = Literal["auto", "javascript", "typescript"]
Grant = str | Mapping[str, Any]


class Limits(TypedDict, total=False):
    """What a run may use: durations in seconds or as `"500ms"`, sizes in bytes or as `"64MiB"`."""

    timeout: float | str
    cpu: float | str
    memory: int | str
    stack: int | str
    source: int | str
    output: int | str
    value: int | str
    payload: int | str
    suspended: int | str
    egress_response: int | str
    egress_requests: int
    calls: int
    calls_in_flight: int


class RunOptions(TypedDict, total=False):
    """What `run` and `stream` take besides the program and its tools."""

    grants: Sequence[Grant] | None
    """What the program may do: `["kv:cache", "egress:GET https://api.example.com/"]`."""
    limits: Limits | None
    timeout: float | str | None
    """Short for `limits={"timeout": …}`: from start to end, waiting included. Running out of it is an outcome."""
    input: Any
    """Any JSON, visible as `input`."""
    args: Mapping[str, Any] | None
    """Globals by name."""
    name: str | None
    """What to call the program in errors: `report.ts`."""
    language: Language | None
    engine: Literal["quickjs", "v8", "auto"] | None
    """What it runs on: `auto` begins on `quickjs`, the default, and goes on in `v8` when it computes for long."""
    isolation: Literal["none", "process"] | None
    """What stands around it besides: `process` is a jailed process of its own."""
    seed: int | None
    """Fixes its randomness."""
    time: str | None
    """The clock: `live`, `virtual` or `banned`."""
    random: str | None
    """Chance: `live`, `virtual` or `banned`."""
    run: str | None
    """A name of your own for the run, up to 64 letters, digits, `_` or `-`; otherwise one is made."""
    approve: Approver | None
    """Who decides about calls that a grant asks about (`ask tool:mail`): a function, or `"elsewhere"` for whoever
    answers by `isolith approvals` or HTTP. Without it, they are denied."""


def run_message(run: str, code: str, tools: Mapping[str, Tool], options: RunOptions) -> str:
    """The `run` message; a `RequestError` for what can be seen to be wrong before it is sent."""
    if not isinstance(code, str):
        raise _wrong("program", f"a program is text, not {type(code).__name__}")
    if not RUN_NAME.fullmatch(run):
        raise _wrong("run", f"`{run[:80]}` cannot name a run: use up to 64 of A-Z a-z 0-9 _ -")
    limits: dict[str, Any] = dict(options.get("limits") or {})
    if (timeout := options.get("timeout")) is not None:
        limits["timeout"] = timeout
    fields: dict[str, Any] = {
        "type": "run",
        "run": run,
        "program": code,
        "name": options.get("name"),
        "language": options.get("language"),
        "input": options.get("input"),
        "args": options.get("args"),
        "grants": _grants(options.get("grants")),
        "limits": limits or None,
        "time": options.get("time"),
        "random": options.get("random"),
        "engine": options.get("engine"),
        "isolation": options.get("isolation"),
        "seed": options.get("seed"),
        "tools": [tool.to_wire() for tool in tools.values()] or None,
    }
    if unknown := [key for key in options if key not in RunOptions.__annotations__]:
        raise TypeError(f"a run has no option `{unknown[0]}`")
    try:
        text = to_json({key: value for key, value in fields.items() if value is not None})
    except NotJson as error:
        raise _wrong("input", f"the request has no JSON form: {error}") from error
    if (size := len(text.encode())) > REQUEST_BYTES_MAX:
        message = (
            f"the request is {size / 2**20:.1f} MiB, more than the {REQUEST_BYTES_MAX >> 20} MiB that a server takes"
        )
        raise RequestError(message, code="request.large")
    return text


def _grants(grants: Sequence[Grant] | None) -> list[Grant] | None:
    if isinstance(grants, (str, Mapping)):
        raise _wrong("grants", "`grants` is a list of grants, not one of them")
    return list(grants) if grants else None


def _wrong(field: str, message: str) -> RequestError:
    return RequestError(message, code="request.invalid", field=field)
