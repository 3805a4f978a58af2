"""Many runs over one connection at a time."""

from __future__ import annotations

import asyncio
import copy
import json
import logging
from typing import Any

from ._approvals import HARMLESS_REFUSALS, Decider, lost
from ._channel import Channel, ChannelLost, Connector
from ._link import Link
from ._performer import Performer, reply_error
from ._running import Running
from ._tasks import Tasks
from .approval import ApprovalRequest
from .errors import ClientClosed, IsolithError, ProtocolError, RequestError
from .outcome import Outcome, Output, ToolCall

RUN_EXISTS = "run.exists"
RUN_ENDED = "run.ended"
RUN_UNKNOWN = "run.unknown"
KEY_SCOPE = "key.scope"
_SENDS_MAX = 8
"""How often one run is sent: again when the server is busy, or the connection broke at the wrong moment."""
_BUSY_WAIT_MAX_S = 30.0
_CANCEL_AGAIN_S = 0.1
_CALLS_OPEN_MAX = 100_000

logger = logging.getLogger("isolith")


class Session:
    """Tells runs what came, answers their calls, and takes them up again after a broken connection.

    Nothing that reads ever waits for someone who consumes: one slow reader would stop all other runs.
    """

    def __init__(self, connector: Connector, performer: Performer, decider: Decider, reconnect_s: float) -> None:
        self._performer = performer
        self._decider = decider
        self._runs: dict[str, Running] = {}
        self._tasks = Tasks()
        self.link = Link(connector, reconnect_s, self, self._tasks)

    async def begin(self, running: Running) -> None:
        """Sends a run, over a new connection if there is none."""
        channel = await self.link.channel()
        if running.name in self._runs:
            raise RequestError(f"there is a run called `{running.name}` already", code=RUN_EXISTS, field="run")
        self._runs[running.name] = running
        running.sends += 1
        await channel.send(running.request)

    def cancel(self, name: str) -> None:
        """Stops a run; its outcome comes as usual."""
        if (running := self._runs.get(name)) is not None:
            running.cancelled = True
            if self.link.live is not None:
                self._tasks.spawn(self.link.live.send(_message("cancel", name)))

    def abandon(self, running: Running) -> None:
        """Stops a run that nobody waits for any more."""
        if running.over or running.abandoned:
            return
        running.abandoned = True
        for task in running.tool_tasks | running.asking_tasks:
            task.cancel()
        self.cancel(running.name)

    async def close(self) -> None:
        """Stops all runs, and ends the connection."""
        channel = self.link.leave()
        for running in list(self._runs.values()):
            if channel is not None:
                await channel.send(_message("cancel", running.name))
            self._fail(running, ClientClosed("the client was closed", code="client.closed"))
        await self._tasks.end()
        if channel is not None:
            await channel.close()

    # --- what the link tells

    def needs_link(self) -> bool:
        return bool(self._runs)

    async def take_up(self, channel: Channel) -> None:
        for running in list(self._runs.values()):
            running.attaching = True
            await channel.send(_message("attach", running.name))
            if running.cancelled:
                await channel.send(_message("cancel", running.name))

    def lost(self, error: IsolithError) -> None:
        for running in list(self._runs.values()):
            self._fail(running, error)

    def heard(self, channel: Channel, message: dict[str, Any]) -> None:
        kind, name = message.get("type"), message.get("run")
        if kind == "error" and name is None:
            self._not_understood(RequestError.from_wire(message.get("error")))
            return
        running = self._runs.get(name) if isinstance(name, str) else None
        if running is None:
            return
        if kind == "error":
            self._refused(channel, running, RequestError.from_wire(message.get("error")))
            return
        running.confirmed, running.attaching, running.request = True, False, ""
        self.link.proved_useful()
        if kind == "output":
            running.add_output(Output(message["stream"], message["text"], message.get("at_ms", 0)))
        elif kind == "call":
            self._called(channel, running, ToolCall(int(message["call"]), message["name"], message.get("args")))
        elif kind == "approval":
            self._asked(channel, running, message["approval"])
        elif kind == "outcome":
            outcome = Outcome.from_wire({"run": running.name, **message["outcome"]})
            del self._runs[running.name]
            running.finish(outcome)

    # --- refusals

    def _not_understood(self, error: RequestError) -> None:
        # Something sent here was refused, and it is not said what; whoever waits for its answer would wait for ever.
        suspects = [running for running in self._runs.values() if not running.confirmed]
        if len(suspects) != 1:
            raise ChannelLost(error)
        self._fail(suspects[0], error)

    def _refused(self, channel: Channel, running: Running, error: RequestError) -> None:
        if error.code.startswith("call.") or error.code == RUN_ENDED or error.code in HARMLESS_REFUSALS:
            # An answer that came twice, or too late.
            logger.debug("run %s: %s", running.name, error.message)
            return
        if error.code == KEY_SCOPE and running.approvals.any_answered:
            # Nobody will answer what the run asks, and it would wait for days.
            self.cancel(running.name)
            self._fail(running, _may_not_decide())
            return
        attaching, running.attaching = running.attaching, False
        if running.sends >= _SENDS_MAX:
            self._fail(running, error)
        elif error.code == RUN_UNKNOWN and running.cancelled and not attaching:
            # The server was told to stop it before it had got round to starting it.
            self._send_again(channel, running, _message("cancel", running.name), _CANCEL_AGAIN_S)
        elif running.confirmed and not attaching:
            self._fail(running, error)
        elif error.retry_after is not None and not running.abandoned:
            self._start_again(channel, running, attaching, min(error.retry_after, _BUSY_WAIT_MAX_S))
        elif attaching and not running.confirmed:
            # The connection broke before the server had read of this run. Its name makes sending again safe.
            self._start_again(channel, running, False, 0)
        elif running.sends > 1 and error.code == RUN_EXISTS:
            # It had read of it after all.
            self._start_again(channel, running, True, 0)
        else:
            self._fail(running, error)

    def _start_again(self, channel: Channel, running: Running, attach: bool, after_s: float) -> None:
        message = _message("attach", running.name) if attach else running.request
        self._send_again(channel, running, message, after_s, attach=attach)

    def _send_again(
        self, channel: Channel, running: Running, message: str, after_s: float, *, attach: bool = False
    ) -> None:
        running.sends += 1

        async def send() -> None:
            await asyncio.sleep(after_s)
            # Over another connection, it is taken up like all others.
            if not running.over and self.link.live is channel:
                running.attaching = attach
                await channel.send(message)

        self._tasks.spawn(send())

    # --- calls

    def _called(self, channel: Channel, running: Running, call: ToolCall) -> None:
        if running.abandoned:
            return
        if running.calls.begin(call.id):
            if len(running.calls.performing) > _CALLS_OPEN_MAX:
                raise ChannelLost(ProtocolError("the server asks for more calls at one time than can be"))
            running.add_call(call)
            # Within the context of who started the run, and not of who reads the connection.
            task = running.context.copy().run(self._tasks.spawn, self._perform(running, call))
            running.tool_tasks.add(task)
            task.add_done_callback(running.tool_tasks.discard)
        elif running.calls.answered(call.id):
            # The answer did not arrive before the connection broke.
            lost = "the tool was called, but its answer was lost with a connection"
            reply = running.calls.reply(call.id) or reply_error(running.name, call.id, "Error", lost)
            self._tasks.spawn(channel.send(reply))

    async def _perform(self, running: Running, call: ToolCall) -> None:
        reply = await self._performer.reply_to(running, call)
        if running.over or running.abandoned:
            return
        running.calls.answer(call.id, reply, keep=self.link.resumes)
        if self.link.live is not None:
            await self.link.live.send(reply)

    # --- questions

    def _asked(self, channel: Channel, running: Running, approval: dict[str, Any]) -> None:
        if running.abandoned:
            return
        call = int(approval["id"])
        if running.approvals.begin(call):
            if len(running.approvals.performing) > _CALLS_OPEN_MAX:
                raise ChannelLost(ProtocolError("the server asks about more calls at one time than can be"))
            request = ApprovalRequest(running.name, call, approval["grant"], approval["what"], approval.get("args"))
            running.add_approval(request)
            if running.approve == "elsewhere":
                # It stays open: whoever answers is not here.
                return
            deciding = self._decide(running, request, "args" in approval)
            task = running.context.copy().run(self._tasks.spawn, deciding)
            running.asking_tasks.add(task)
            task.add_done_callback(running.asking_tasks.discard)
        elif running.approvals.answered(call) and self.link.resumes:
            # The decision did not arrive before the connection broke.
            self._tasks.spawn(channel.send(running.approvals.reply(call) or lost(running.name, call)))

    async def _decide(self, running: Running, request: ApprovalRequest, has_args: bool) -> None:
        decision = await self._decider.decide(running, request, has_args=has_args)
        if running.over or running.abandoned:
            return
        running.approvals.answer(request.call, decision, keep=self.link.resumes)
        if self.link.live is not None:
            await self.link.live.send(decision)

    def _fail(self, running: Running, error: IsolithError) -> None:
        self._runs.pop(running.name, None)
        running.fail(copy.copy(error))


def _may_not_decide() -> RequestError:
    message = "the run asks before it goes on, and this client's key may not answer: it lacks the scope `approvals`"
    hint = 'make a key with `isolith key create --scope runs,approvals`, or let others answer: `approve="elsewhere"`'
    return RequestError(message, code=KEY_SCOPE, hint=hint)


def _message(kind: str, run: str) -> str:
    return json.dumps({"type": kind, "run": run})
