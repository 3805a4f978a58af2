"""What a server keeps: runs, secrets and the audit."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from ._http import Http
from .approval import ApprovalRequest, Consent
from .outcome import Outcome
from .results import to_json

_WAIT_ROOM_S = 30.0
"""How much longer than the server is asked to wait an answer may take."""


class Runs:
    """The caller's runs on the server."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def get(self, run: str, *, wait_s: float = 0) -> Outcome:
        """How a run is, after waiting up to `wait_s` for its end or its next round of calls."""
        query = {"wait": f"{round(wait_s * 1000)}ms"} if wait_s else None
        return _outcome(self._http.ask("GET", "v1", "runs", run, query=query, patience_s=wait_s + _WAIT_ROOM_S))

    def list(self, *, limit: int = 50, before: str | None = None) -> list[dict[str, Any]]:
        """The newest runs first. `before` is a run's name, to go on from there."""
        return _rows(self._http.ask("GET", "v1", "runs", query={"limit": limit, "before": before}), "runs")

    def cancel(self, run: str) -> Outcome:
        """Stops a run, and gives its outcome."""
        return _outcome(self._http.ask("POST", "v1", "runs", run, "cancel"))


class Approvals:
    """What the caller's runs ask about, and answers to it."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def list(self) -> list[ApprovalRequest]:
        """Everything that waits for someone's word."""
        rows = _rows(self._http.ask("GET", "v1", "approvals"), "approvals")
        return [ApprovalRequest(row["run"], row["id"], row["grant"], row["what"], row.get("args")) for row in rows]

    def approve(self, run: str, call: int, *, consent: Consent = "once", args: Any = ..., wait_s: float = 0) -> Outcome:
        """Agrees to a call, with other arguments if `args` are given. Gives how the run is after up to `wait_s`."""
        said: dict[str, Any] = {"decision": "approve", "consent": consent}
        if args is not ...:
            said["args"] = json.loads(to_json(args))
        return self._decide(run, call, said, wait_s)

    def deny(self, run: str, call: int, *, reason: str | None = None, wait_s: float = 0) -> Outcome:
        """Says no. The program sees the `reason`."""
        said = {"decision": "deny"} if reason is None else {"decision": "deny", "reason": reason}
        return self._decide(run, call, said, wait_s)

    def _decide(self, run: str, call: int, said: dict[str, Any], wait_s: float) -> Outcome:
        body = {"approvals": [{"id": call, **said}], "wait": f"{round(wait_s * 1000)}ms"}
        answer = self._http.ask("POST", "v1", "runs", run, "approvals", body=body, patience_s=wait_s + _WAIT_ROOM_S)
        return _outcome(answer)


class Secrets:
    """The caller's secrets: they go in, and only their names come out."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def set(self, name: str, value: str) -> None:
        """Keeps a value under a name."""
        self._http.ask("PUT", "v1", "secrets", name, body={"value": value})

    def list(self) -> list[str]:
        """The names."""
        rows = _rows(self._http.ask("GET", "v1", "secrets"), "secrets")
        return [row["name"] if isinstance(row, dict) else str(row) for row in rows]

    def delete(self, name: str) -> None:
        """Forgets a value."""
        self._http.ask("DELETE", "v1", "secrets", name)


class Audit:
    """What runs did and were refused."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def list(self, *, run: str | None = None, denied: bool | None = None, host: str | None = None) -> list[Any]:
        """The rows that fit."""
        query = {"run": run, "denied": "true" if denied else None, "host": host}
        return _rows(self._http.ask("GET", "v1", "audit", query=query), "rows")


class AsyncRuns:
    """The caller's runs on the server."""

    def __init__(self, http: Http) -> None:
        self._runs = Runs(http)

    async def get(self, run: str, *, wait_s: float = 0) -> Outcome:
        """How a run is, after waiting up to `wait_s` for its end or its next round of calls."""
        return await asyncio.to_thread(self._runs.get, run, wait_s=wait_s)

    async def list(self, *, limit: int = 50, before: str | None = None) -> list[dict[str, Any]]:
        """The newest runs first. `before` is a run's name, to go on from there."""
        return await asyncio.to_thread(self._runs.list, limit=limit, before=before)

    async def cancel(self, run: str) -> Outcome:
        """Stops a run, and gives its outcome."""
        return await asyncio.to_thread(self._runs.cancel, run)


class AsyncApprovals:
    """What the caller's runs ask about, and answers to it."""

    def __init__(self, http: Http) -> None:
        self._approvals = Approvals(http)

    async def list(self) -> list[ApprovalRequest]:
        """Everything that waits for someone's word."""
        return await asyncio.to_thread(self._approvals.list)

    async def approve(
        self, run: str, call: int, *, consent: Consent = "once", args: Any = ..., wait_s: float = 0
    ) -> Outcome:
        """Agrees to a call, with other arguments if `args` are given. Gives how the run is after up to `wait_s`."""
        return await asyncio.to_thread(self._approvals.approve, run, call, consent=consent, args=args, wait_s=wait_s)

    async def deny(self, run: str, call: int, *, reason: str | None = None, wait_s: float = 0) -> Outcome:
        """Says no. The program sees the `reason`."""
        return await asyncio.to_thread(self._approvals.deny, run, call, reason=reason, wait_s=wait_s)


class AsyncSecrets:
    """The caller's secrets: they go in, and only their names come out."""

    def __init__(self, http: Http) -> None:
        self._secrets = Secrets(http)

    async def set(self, name: str, value: str) -> None:
        """Keeps a value under a name."""
        await asyncio.to_thread(self._secrets.set, name, value)

    async def list(self) -> list[str]:
        """The names."""
        return await asyncio.to_thread(self._secrets.list)

    async def delete(self, name: str) -> None:
        """Forgets a value."""
        await asyncio.to_thread(self._secrets.delete, name)


def _outcome(answer: Any) -> Outcome:
    return Outcome.from_wire(answer if isinstance(answer, dict) else {})


def _rows(answer: Any, field: str) -> list[Any]:
    rows = answer.get(field, ()) if isinstance(answer, dict) else answer
    return list(rows or ())
