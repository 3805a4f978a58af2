"""Calls that are made only if someone agrees, and what they may say."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Consent = Literal["once", "run", "always"]


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """A call that is made only if someone agrees."""

    run: str
    """The run that wants to make it."""
    call: int
    """Which of the run's calls it is."""
    grant: str
    """The grant that asks: `ask tool:mail`."""
    what: str
    """What is to be done, in words: ``the tool `mail` ``, `POST https://api.example.com/v1/orders`."""
    args: Any = None
    """What a tool or a program is to be called with."""


@dataclass(frozen=True, slots=True)
class Approve:
    """A yes."""

    consent: Consent = "once"
    """What it is good for: this call; all that the same grant asks about in this `run`; or `always`, in later runs of
    exactly this program as well."""
    args: Any = ...
    """What to call it with instead. It has to be granted like everything else."""


@dataclass(frozen=True, slots=True)
class Deny:
    """A no."""

    reason: str | None = None
    """Why, in words that the program sees."""


Decision: TypeAlias = bool | Literal["approve", "deny"] | Approve | Deny
ApprovalHandler: TypeAlias = Callable[[ApprovalRequest], Decision | Awaitable[Decision]]
"""Decides about one call, in a thread or on the event loop. What it raises is a no, with the message as the reason."""
Approver: TypeAlias = ApprovalHandler | Literal["elsewhere"]
"""Who decides: a function of yours, or whoever answers by `isolith approvals` or HTTP."""
