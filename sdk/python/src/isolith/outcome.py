"""How a run ended, and what happens on the way there."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, TypeVar

from .approval import ApprovalRequest
from .errors import ProgramError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Output:
    """What one console call wrote, without the final newline."""

    stream: Literal["stdout", "stderr"]
    text: str
    at_ms: int = 0
    """When, in milliseconds of the run's own time."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The program calls a tool. The client performs it; this is for watching."""

    id: int
    name: str
    args: Any = None


@dataclass(frozen=True, slots=True)
class Skipped:
    """Outputs were left out of the stream because they were not read fast enough. The outcome has all of them."""

    count: int


@dataclass(frozen=True, slots=True)
class RunError:
    """Why a program failed. `kind` is one of a closed set: `thrown`, `timeout`, `memory_limit`, `denied`, …"""

    kind: str
    name: str
    message: str
    code: str | None = None
    stack: str | None = None
    line: int | None = None
    column: int | None = None
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """What a run used."""

    wall_us: int = 0
    cpu_us: int = 0
    memory_peak_bytes: int = 0
    calls: int = 0
    bytes_in: int = 0
    bytes_out: int = 0


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One use of a grant: what was done, not with which content."""

    grant: str
    what: str
    outcome: str
    duration_us: int = 0


@dataclass(frozen=True, slots=True)
class GrantCount:
    """A grant, and how often it was used or refused."""

    grant: str
    count: int


@dataclass(frozen=True, slots=True)
class Approval:
    """A call that a run wants to make, and that waits for someone's word. Times are microseconds since 1970."""

    id: int
    grant: str
    what: str
    args: Any = None
    asked_us: int = 0
    expires_us: int = 0
    """Until when: then the answer is no."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended. A program's failure is an outcome too: look at `ok`, or ask for `value_or_raise()`."""

    status: str
    """`ok` or `error`; `running` or `suspended` when asked for a run that goes on."""
    value: Any = None
    """What the program returned; `None` also for `undefined`."""
    outputs: tuple[Output, ...] = ()
    error: RunError | None = None
    usage: Usage = Usage()
    calls: tuple[CallRecord, ...] = ()
    grants: tuple[str, ...] = ()
    exercised: tuple[GrantCount, ...] = ()
    denied: tuple[GrantCount, ...] = ()
    run: str | None = None
    approvals: tuple[Approval, ...] = ()
    """What a `suspended` run asks about before it goes on."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """The outcome as it came, with whatever this version does not know yet."""

    @property
    def ok(self) -> bool:
        """Whether it returned."""
        return self.status == "ok"

    @property
    def stdout(self) -> str:
        """All of `console.log` and its like, a line each."""
        return "".join(f"{output.text}\n" for output in self.outputs if output.stream == "stdout")

    @property
    def stderr(self) -> str:
        """All of `console.error` and `console.warn`, a line each."""
        return "".join(f"{output.text}\n" for output in self.outputs if output.stream == "stderr")

    @property
    def ran_on(self) -> dict[str, Any]:
        """What it ran on: its `engine`, the `jail` of its process where it had one, and what came of a `switch`."""
        return dict(self.raw.get("ran_on") or {})

    @property
    def narrowed(self) -> list[Any]:
        """What was asked for and not, or not wholly, allowed by the operator's policy."""
        return list(self.raw.get("narrowed", ()))

    def value_or_raise(self) -> Any:
        """The value; a `ProgramError` when there is none because the program failed or goes on."""
        if not self.ok:
            raise ProgramError(self)
        return self.value

    @classmethod
    def from_wire(cls, raw: dict[str, Any]) -> Outcome:
        """Reads an outcome. What this version does not know stays in `raw`."""
        error = raw.get("error")
        return cls(
            status=str(raw.get("status", "error")),
            value=raw.get("value"),
            outputs=_each(Output, raw.get("outputs")),
            error=_known(RunError, {"kind": "internal", "name": "Error", "message": "", **error}) if error else None,
            usage=_known(Usage, raw.get("usage") or {}),
            calls=_each(CallRecord, raw.get("calls")),
            grants=tuple(raw.get("grants") or ()),
            exercised=_each(GrantCount, raw.get("exercised")),
            denied=_each(GrantCount, raw.get("denied")),
            run=raw.get("run"),
            approvals=_each(Approval, raw.get("approvals")),
            raw=raw,
        )


Event: TypeAlias = Output | ToolCall | ApprovalRequest | Skipped | Outcome
"""What a stream of a run yields; the last one is its `Outcome`."""


def _known(kind: type[T], fields: dict[str, Any]) -> T:
    """Builds a dataclass from the fields it has, so that a newer server's additions do no harm."""
    names = {each.name for each in dataclasses.fields(kind)}  # type: ignore[arg-type]
    return kind(**{name: value for name, value in fields.items() if name in names})


def _each(kind: type[T], items: list[dict[str, Any]] | None) -> tuple[T, ...]:
    return tuple(_known(kind, item) for item in items or ())
