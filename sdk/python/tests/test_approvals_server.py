"""What a run asks about before it goes on, with a server: connections that break, keys, and HTTP."""

from __future__ import annotations

import asyncio
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import Server
from scripted import ScriptedServer

from isolith import Approval, ApprovalRequest, Approve, Approver, AsyncIsolith, Decision, Isolith, RequestError, Tool
from isolith.results import NotJson

PATIENCE_S = 30
GRANTS = ["ask tool:mail"]
MAIL = [Tool("mail", lambda args: args)]


async def test_questions_and_decisions_outlast_connections(server: Server) -> None:
    asked: list[int] = []

    async with AsyncIsolith(server.url) as client:

        def cut() -> None:
            if client._session.link.live is not None:
                client._session.link.live._writer.transport.abort()  # type: ignore[attr-defined]

        async def approve(request: ApprovalRequest) -> Decision:
            n = request.call
            asked.append(n)
            if n % 3 == 0:
                cut()
            await asyncio.sleep(0.001 * (n % 5))
            if n % 4 == 0:
                asyncio.get_running_loop().call_later(0.001, cut)
            return True

        code = """
        for (let i = 0; i < 6; i++) await Promise.all([kv.put("even", 2 * i), kv.put("odd", 2 * i + 1)]);
        return "put";
        """
        outcome = await asyncio.wait_for(client.run(code, grants=["ask kv:cache"], approve=approve), PATIENCE_S)
        assert outcome.value_or_raise() == "put"
        assert asked == list(range(12))


def approval_of(call: int) -> dict[str, Any]:
    times = {"asked_us": 1, "expires_us": 2}
    return {"id": call, "grant": "ask tool:mail", "what": "the tool `mail`", "args": 1, **times}


async def test_a_lost_decision_is_sent_again_and_nobody_is_asked_twice() -> None:
    asked: list[ApprovalRequest] = []

    async def approve(request: ApprovalRequest) -> Decision:
        asked.append(request)
        return Approve(args=2)

    async with ScriptedServer() as server, AsyncIsolith(server.url) as client:
        run = asyncio.create_task(client.run("x", approve=approve))
        peer = await server.peer()
        name = (await peer.expect("run"))["run"]
        await peer.say("approval", run=name, approval=approval_of(4))
        decision = {"type": "approve", "run": name, "call": 4, "decision": "approve", "args": 2}
        assert await peer.expect("approve") == decision
        peer.drop()

        peer = await server.peer()
        await peer.expect("attach")
        await peer.say("approval", run=name, approval=approval_of(4))
        assert await peer.expect("approve") == decision
        for code in ("approval.answered", "approval.expired", "approval.unknown"):
            await peer.refuse(name, code)
        await peer.outcome(name, "done")
        assert (await asyncio.wait_for(run, PATIENCE_S)).value == "done"
    assert asked == [ApprovalRequest(name, 4, "ask tool:mail", "the tool `mail`", 1)]


async def test_a_question_that_comes_again_while_it_is_thought_about_is_not_put_again() -> None:
    asked, release = 0, asyncio.Event()

    async def approve(_: ApprovalRequest) -> Decision:
        nonlocal asked
        asked += 1
        await release.wait()
        return True

    async with ScriptedServer() as server, AsyncIsolith(server.url) as client:
        run = asyncio.create_task(client.run("x", [Tool("told", lambda _: 1)], approve=approve))
        peer = await server.peer()
        name = (await peer.expect("run"))["run"]
        await peer.say("approval", run=name, approval=approval_of(0))
        await peer.call(name, 1, "told")
        await peer.expect("reply")
        peer.drop()

        peer = await server.peer()
        await peer.expect("attach")
        await peer.say("approval", run=name, approval=approval_of(0))
        # Its answer comes after the question, so that the question has arrived.
        await peer.call(name, 2, "told")
        await peer.expect("reply")
        release.set()
        assert await peer.expect("approve") == {
            "type": "approve",
            "run": name,
            "call": 0,
            "decision": "approve",
            "consent": "once",
        }
        await peer.outcome(name, "done")
        assert (await asyncio.wait_for(run, PATIENCE_S)).value == "done"
    assert asked == 1


async def test_a_question_survives_a_restart_of_the_server(server: Server) -> None:
    asked = 0

    async def approve(_: ApprovalRequest) -> Decision:
        nonlocal asked
        asked += 1
        await asyncio.sleep(1)
        await asyncio.to_thread(server.kill)
        await asyncio.to_thread(server.start)
        return True

    async with AsyncIsolith(server.url) as client:
        code = "const before = 20; return before + await tools.mail(22)"
        outcome = await asyncio.wait_for(client.run(code, MAIL, grants=GRANTS, approve=approve), PATIENCE_S)
        assert outcome.value_or_raise() == 42
        assert asked == 1


async def test_a_run_that_asks_is_seen_over_http(server: Server) -> None:
    async with AsyncIsolith(server.url) as client:
        code = "return tools.mail({ to: 'ada' })"
        async with client.stream(code, MAIL, grants=GRANTS, approve="elsewhere", run="seen") as stream:
            assert isinstance(await stream.next_event(), ApprovalRequest)
            for _ in range(100):
                state = await client.runs.get("seen")
                if state.status == "suspended":
                    break
                await asyncio.sleep(0.02)
            (approval,) = state.approvals
            assert approval.asked_us < approval.expires_us
            times = (approval.asked_us, approval.expires_us)
            assert approval == Approval(0, "ask tool:mail", "the tool `mail`", {"to": "ada"}, *times)


def create_key(binary: str, name: str, scopes: str) -> str:
    command = [binary, "key", "create", name, "--scope", scopes]
    made = subprocess.run(command, capture_output=True, text=True, check=True)
    return next(word for word in made.stdout.split() if word.startswith("isk_"))


def test_a_key_has_to_be_for_approvals(server: Server, binary: str, data: Path) -> None:
    weak, strong = create_key(binary, "weak", "runs"), create_key(binary, "strong", "runs,approvals")
    handlers: dict[str, Approver | None] = {"function": lambda _: True, "nobody": None}
    with Isolith(server.url, weak) as client:
        for run, approve in handlers.items():
            with pytest.raises(RequestError) as refused:
                client.run("return tools.mail(1)", MAIL, grants=GRANTS, run=run, approve=approve)
            assert refused.value.code == "key.scope"
            assert "`approvals`" in refused.value.message
            assert "--scope runs,approvals" in (refused.value.hint or "")
            # A run that this client cannot help does not wait for days.
            for _ in range(100):
                if (ended := client.runs.get(run)).status == "error":
                    break
                time.sleep(0.02)
            assert ended.error is not None
            assert ended.error.kind == "cancelled"
        with pytest.raises(RequestError) as refused:
            client.approvals.list()
        assert refused.value.code == "key.scope"
        # Where others decide, the key needs no more than before.
        events: list[Any] = []
        with client.stream("return tools.mail(1)", MAIL, grants=GRANTS, approve="elsewhere") as stream:
            for event in stream:
                events.append(event)
                stream.cancel()
        assert isinstance(events[0], ApprovalRequest)
        assert events[-1].error.kind == "cancelled"
    with Isolith(server.url, strong, approve=lambda _: True) as client:
        assert client.run("return tools.mail(1)", MAIL, grants=GRANTS).value_or_raise() == 1


async def asked(client: AsyncIsolith, run: str) -> ApprovalRequest:
    """What a run asks, once it does."""
    for _ in range(200):
        for request in await client.approvals.list():
            if request.run == run:
                return request
        await asyncio.sleep(0.02)
    pytest.fail("nothing is asked")


async def test_questions_are_listed_and_answered_by_whoever_looks_at_them(server: Server) -> None:
    code = "try { return await tools.mail({ to: 'ada' }) } catch (error) { return error.message }"
    async with AsyncIsolith(server.url, approve="elsewhere") as client:
        runs = {name: asyncio.create_task(client.run(code, MAIL, grants=GRANTS, run=name)) for name in ("a", "b", "c")}
        assert await asked(client, "a") == ApprovalRequest("a", 0, "ask tool:mail", "the tool `mail`", {"to": "ada"})
        await client.approvals.approve("a", 0, args={"to": "grace"})
        await asked(client, "b")
        await client.approvals.approve("b", 0, consent="run", wait_s=10)
        await asked(client, "c")
        await client.approvals.deny("c", 0, reason="not today")
        values = [(await asyncio.wait_for(run, PATIENCE_S)).value for run in runs.values()]
        assert values[:2] == [{"to": "grace"}, {"to": "ada"}]
        assert "not today" in values[2]
        assert await client.approvals.list() == []


async def test_an_answer_that_is_none_is_refused_and_agrees_to_nothing(server: Server) -> None:
    async with AsyncIsolith(server.url, approve="elsewhere") as client:
        run = asyncio.create_task(client.run("return await tools.mail(1)", MAIL, grants=GRANTS, run="bad"))
        await asked(client, "bad")
        with pytest.raises(NotJson):
            await client.approvals.approve("bad", 0, args=object())
        wrong = {
            "request.invalid": client.approvals.approve("bad", 0, args=2, consent="run"),
            "approval.unknown": client.approvals.approve("bad", 7),
            "run.unknown": client.approvals.deny("nothing", 0),
        }
        for code, answer in wrong.items():
            with pytest.raises(RequestError) as refused:
                await answer
            assert refused.value.code == code
        await asked(client, "bad")
        client.cancel("bad")
        outcome = await asyncio.wait_for(run, PATIENCE_S)
        assert outcome.error is not None
        assert outcome.error.kind == "cancelled"


async def test_a_tool_of_ours_that_was_agreed_to_and_takes_long_is_called_once(server: Server) -> None:
    calls = 0

    async def slow(args: Any) -> Any:
        nonlocal calls
        calls += 1
        # Several times what a server holds a run for that waits.
        await asyncio.sleep(0.6)
        return args

    async with AsyncIsolith(server.url, approve="elsewhere") as client:
        code = "return await tools.mail(21)"
        run = asyncio.create_task(client.run(code, [Tool("mail", slow)], grants=GRANTS, run="slow"))
        await asked(client, "slow")
        await client.approvals.approve("slow", 0)
        assert (await asyncio.wait_for(run, PATIENCE_S)).value_or_raise() == 21
        assert calls == 1
