"""One run that is under way, as the client sees it."""

from __future__ import annotations

import asyncio
import collections
import contextvars

from .approval import ApprovalRequest, Approver
from .errors import IsolithError
from .outcome import Event, Outcome, Output, Skipped, ToolCall
from .tool import Tool

EVENTS_MAX = 4096
"""How many events wait for a slow reader. Further outputs are skipped; the outcome has all of them."""
REPLIES_KEPT_BYTES_MAX = 64 << 20
"""How much of what was answered is kept in case the connection breaks before it arrived."""


class Running:
    """The state of one run: what was sent, what came, and who waits for it."""

    def __init__(
        self, name: str, request: str, tools: dict[str, Tool], approve: Approver | None = None, *, watched: bool
    ) -> None:
        self.name = name
        self.request = request
        """The `run` message, kept while the server has not said anything about the run."""
        self.tools = tools
        self.approve = approve
        self.context = contextvars.copy_context()
        """The context variables of whoever started it, which its tools see."""
        self.sends = 0
        self.confirmed = False
        """Whether the server has said anything about it, so that it surely exists there."""
        self.attaching = False
        self.cancelled = False
        self.abandoned = False
        """Nobody waits for it any more."""
        self.calls = Calls()
        self.tool_tasks: set[asyncio.Task[None]] = set()
        self.approvals = Calls()
        """The calls that someone is asked about, and what was decided."""
        self.asking_tasks: set[asyncio.Task[None]] = set()
        self.outcome: Outcome | None = None
        self.failure: IsolithError | None = None
        self._watched = watched
        self._events: collections.deque[Event] = collections.deque()
        self._skipped = 0
        self._changed = asyncio.Event()

    @property
    def over(self) -> bool:
        return self.outcome is not None or self.failure is not None

    def add_output(self, output: Output) -> None:
        if len(self._events) >= EVENTS_MAX:
            self._skipped += 1
        else:
            self._add(output)

    def add_call(self, call: ToolCall) -> None:
        # As many as the server leaves open at one time, which it limits.
        self._add(call)

    def add_approval(self, request: ApprovalRequest) -> None:
        self._add(request)

    def finish(self, outcome: Outcome) -> None:
        self.outcome = outcome
        self._end()

    def fail(self, failure: IsolithError) -> None:
        if not self.over:
            self.failure = failure
            self._end()

    async def next_event(self) -> Event:
        """The next event; the outcome comes last, and again. Raises what the run failed of."""
        while True:
            if self._events:
                return self._events.popleft()
            if self._skipped:
                skipped, self._skipped = self._skipped, 0
                return Skipped(skipped)
            if self.failure is not None:
                raise self.failure
            if self.outcome is not None:
                # An outcome is not taken from anywhere: asking again gives it again.
                return self.outcome
            self._changed.clear()
            await self._changed.wait()

    def _end(self) -> None:
        self._changed.set()
        # Nobody needs to decide any more.
        for task in self.asking_tasks:
            task.cancel()

    def _add(self, event: Event) -> None:
        if self._watched and not self.abandoned:
            self._events.append(event)
            self._changed.set()


class Calls:
    """Which calls of a run are performed, and what was answered: each is performed once, however often it comes."""

    def __init__(self) -> None:
        self.performing: set[int] = set()
        self._answered: set[int] = set()
        self._replies: collections.OrderedDict[int, str] = collections.OrderedDict()
        self._bytes = 0

    def begin(self, call: int) -> bool:
        """Whether the call is new, and now to be performed."""
        if call in self.performing or call in self._answered:
            return False
        self.performing.add(call)
        return True

    def answer(self, call: int, reply: str, *, keep: bool) -> None:
        self.performing.discard(call)
        self._answered.add(call)
        if not keep:
            return
        self._replies[call] = reply
        self._bytes += len(reply)
        while self._bytes > REPLIES_KEPT_BYTES_MAX and len(self._replies) > 1:
            # The oldest one is the one that arrived most surely.
            _, dropped = self._replies.popitem(last=False)
            self._bytes -= len(dropped)

    @property
    def any_answered(self) -> bool:
        return bool(self._answered)

    def answered(self, call: int) -> bool:
        return call in self._answered

    def reply(self, call: int) -> str | None:
        """What was answered, as far as it is kept."""
        return self._replies.get(call)
