"""Puts the questions of runs to whoever decides, and says what they decided in the words of the protocol."""

from __future__ import annotations

import asyncio
import inspect
import logging
from typing import Any

from ._request import REQUEST_BYTES_MAX
from ._running import Running
from ._workers import Workers
from .approval import ApprovalHandler, ApprovalRequest, Approve, Deny
from .results import NotJson, to_json
from .tool import is_async_callable

HARMLESS_REFUSALS = frozenset({"approval.answered", "approval.expired", "approval.unknown"})
"""What servers say to a decision that comes twice or too late: someone was faster."""
_NOBODY = (
    "nobody is there to be asked: the client has no option `approve`; "
    '`approve="elsewhere"` waits for `isolith approvals` or HTTP'
)
_LOST = "the decision was lost with a connection"
_REASON_CHARS_MAX = 1_000
_CONSENTS = ("once", "run", "always")

logger = logging.getLogger("isolith.approvals")


class Decider:
    """Calls the functions that decide: async ones on the event loop, the others in threads."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers

    async def decide(self, running: Running, request: ApprovalRequest, *, has_args: bool) -> str:
        """The message that answers a question. Whatever is no proper decision is a no."""
        if running.approve is None or running.approve == "elsewhere":
            return _denied(request.run, request.call, _NOBODY)
        try:
            return _message(request, await self._ask(running, running.approve, request), has_args)
        except asyncio.CancelledError:
            if running.over or running.abandoned:
                raise
            return _denied(request.run, request.call, "whoever decides was cancelled")
        except (Exception, SystemExit) as error:
            logger.debug("nothing was decided about %s", request.what, exc_info=error)
            message = getattr(error, "message", None)
            text = message if isinstance(message, str) else str(error)
            return _denied(request.run, request.call, text or type(error).__name__)

    async def _ask(self, running: Running, approve: ApprovalHandler, request: ApprovalRequest) -> Any:
        if is_async_callable(approve):
            decided = approve(request)
        else:
            decided = await self._workers.perform(lambda: approve(request), running.context.copy())
        return await decided if inspect.isawaitable(decided) else decided


def lost(run: str, call: int) -> str:
    """The message for a decision that was given up, and that the server asks for again."""
    return _denied(run, call, _LOST)


def _message(request: ApprovalRequest, decided: Any, has_args: bool) -> str:
    wrong = None
    if isinstance(decided, (bool, str)):
        decided = {True: Approve(), "approve": Approve(), False: Deny(), "deny": Deny()}.get(decided, decided)
    if isinstance(decided, Deny):
        return _denied(request.run, request.call, decided.reason)
    if not isinstance(decided, Approve):
        wrong = f"{type(decided).__name__} is neither a yes nor a no"
    elif decided.consent not in _CONSENTS:
        wrong = "`consent` is `once`, `run` or `always`"
    elif decided.args is ...:
        return _approve(request.run, request.call, decision="approve", consent=decided.consent)
    elif not has_args:
        wrong = f"{request.what} has no arguments that could be changed"
    elif decided.consent != "once":
        wrong = "changed arguments are good for this call only"
    else:
        try:
            text = _approve(request.run, request.call, decision="approve", args=decided.args)
            if len(text.encode()) <= REQUEST_BYTES_MAX:
                return text
            wrong = "its `args` are too large"
        except NotJson as error:
            wrong = f"its `args` have no JSON form: {error}"
    return _denied(request.run, request.call, f"the decision of `approve` cannot be used: {wrong}")


def _denied(run: str, call: int, reason: str | None) -> str:
    if not reason:
        return _approve(run, call, decision="deny")
    # Texts of exceptions can hold what no encoding carries.
    plain = str(reason)[:_REASON_CHARS_MAX].encode(errors="replace").decode()
    return _approve(run, call, decision="deny", reason=plain)


def _approve(run: str, call: int, **verdict: Any) -> str:
    return to_json({"type": "approve", "run": run, "call": call, **verdict})
