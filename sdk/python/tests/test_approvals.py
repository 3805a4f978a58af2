"""What a run asks about before it goes on, with a local daemon."""

from __future__ import annotations

import asyncio
import contextvars
import subprocess
import threading
import time
from typing import Any

import pytest
from langchain_core.tools import tool as langchain_tool

from isolith import (
    ApprovalHandler,
    ApprovalRequest,
    Approve,
    Approver,
    AsyncIsolith,
    Decision,
    Deny,
    Isolith,
    Outcome,
    RunOptions,
    Tool,
    ToolCall,
)
from isolith.langchain import code_tool

PATIENCE_S = 30
GRANTS = ["ask tool:mail"]
CAUGHT = "const caught = (promise) => promise.catch(({ name, code, message }) => ({ name, code, message }));"
ONE = f"{CAUGHT} return caught(tools.mail({{ to: 'ada' }}))"
USELESS = ": the decision of `approve` cannot be used: "


class Mailbox:
    """A tool, and what it was called with."""

    def __init__(self) -> None:
        self.sent: list[Any] = []

    def tools(self) -> list[Tool]:
        async def mail(args: Any) -> str:
            self.sent.append(args)
            return "sent"

        return [Tool("mail", mail)]


@pytest.fixture
def mailbox() -> Mailbox:
    return Mailbox()


def denied(why: str) -> dict[str, str]:
    message = f"the tool `mail` has to be agreed to by someone{why} (`ask tool:mail`)"
    return {"name": "DeniedError", "code": "tool.denied", "message": message}


def gives(value: Any) -> ApprovalHandler:
    return lambda _: value


@pytest.mark.parametrize("decision", [True, "approve", Approve(), Approve(consent="run")])
@pytest.mark.parametrize("is_async", [False, True])
async def test_a_call_is_made_when_someone_agrees(
    client: AsyncIsolith, mailbox: Mailbox, decision: Decision, is_async: bool
) -> None:
    asked: list[ApprovalRequest] = []

    def approve(request: ApprovalRequest) -> Decision:
        asked.append(request)
        return decision

    async def approve_async(request: ApprovalRequest) -> Decision:
        return approve(request)

    handler: Approver = approve_async if is_async else approve
    outcome = await client.run(ONE, mailbox.tools(), grants=GRANTS, approve=handler, run="agreed")
    assert outcome.value_or_raise() == "sent"
    assert mailbox.sent == [{"to": "ada"}]
    assert asked == [ApprovalRequest("agreed", 0, "ask tool:mail", "the tool `mail`", {"to": "ada"})]


async def test_a_call_can_be_made_with_other_arguments(client: AsyncIsolith) -> None:
    others: list[Any] = [{"to": "grace"}, [], "text", 0, False, None]
    for args in others:
        outcome = await client.run(
            "return tools.mail({ to: 'ada' })",
            [Tool("mail", lambda args: args)],
            grants=GRANTS,
            approve=gives(Approve(args=args)),
        )
        assert outcome.value_or_raise() == args


@pytest.mark.parametrize(
    ("decision", "why"),
    [
        (False, ", and was not"),
        ("deny", ", and was not"),
        (Deny(), ", and was not"),
        (Deny("not on a Sunday"), ": not on a Sunday"),
        (Deny("😀" * 1500), ": " + "😀" * 1000),
        (None, f"{USELESS}NoneType is neither a yes nor a no"),
        ("yes", f"{USELESS}str is neither a yes nor a no"),
        (1, f"{USELESS}int is neither a yes nor a no"),
        (Approve, f"{USELESS}type is neither a yes nor a no"),
        (Approve(consent="forever"), f"{USELESS}`consent` is `once`, `run` or `always`"),  # type: ignore[arg-type]
        (Approve(consent="run", args={}), f"{USELESS}changed arguments are good for this call only"),
        (
            Approve(args={"at": float("nan")}),
            f"{USELESS}its `args` have no JSON form: nan at `args.at` is no JSON number",
        ),
        (Approve(args="x" * (25 << 20)), f"{USELESS}its `args` are too large"),
    ],
    ids=lambda value: str(value)[:40],
)
async def test_a_no_is_an_error_with_a_reason(client: AsyncIsolith, mailbox: Mailbox, decision: Any, why: str) -> None:
    outcome = await client.run(ONE, mailbox.tools(), grants=GRANTS, approve=gives(decision))
    assert outcome.value_or_raise() == denied(why)
    assert mailbox.sent == []


async def test_what_has_no_arguments_cannot_be_given_others(client: AsyncIsolith) -> None:
    code = f"{CAUGHT} return caught(kv.put('a', 1))"
    outcome = await client.run(code, grants=["ask kv:cache"], approve=gives(Approve(args={})))
    assert f"{USELESS}put cache has no arguments that could be changed" in outcome.value_or_raise()["message"]
    agreed = await client.run(
        "await kv.put('a', 1); return kv.get('a')", grants=["ask kv:cache"], approve=gives(Approve(consent="run"))
    )
    assert agreed.value_or_raise() == 1


async def test_an_exception_is_a_no(client: AsyncIsolith, mailbox: Mailbox) -> None:
    def leaves(_: ApprovalRequest) -> Decision:
        raise PermissionError("the \ud800 person left")

    async def leaves_async(request: ApprovalRequest) -> Decision:
        return leaves(request)

    async def cancelled(_: ApprovalRequest) -> Decision:
        raise asyncio.CancelledError

    def exits(_: ApprovalRequest) -> Decision:
        raise SystemExit(3)

    why = ": the ? person left"
    for handler, expected in (
        (leaves, why),
        (leaves_async, why),
        (cancelled, ": whoever decides was cancelled"),
        (exits, ": SystemExit: 3"),
    ):
        outcome = await client.run(ONE, mailbox.tools(), grants=GRANTS, approve=handler)
        assert outcome.value_or_raise() == denied(expected)
    assert mailbox.sent == []


async def test_without_the_option_nobody_is_asked(client: AsyncIsolith, mailbox: Mailbox) -> None:
    outcome = await client.run(ONE, mailbox.tools(), grants=GRANTS)
    why = (
        ": nobody is there to be asked: the client has no option `approve`; "
        '`approve="elsewhere"` waits for `isolith approvals` or HTTP'
    )
    assert outcome.value_or_raise() == denied(why)


async def test_a_client_has_a_default_and_a_run_its_own(binary: str, data: object, mailbox: Mailbox) -> None:
    async with AsyncIsolith(binary=binary, approve=gives(Deny("the default"))) as client:
        outcome = await client.run(ONE, mailbox.tools(), grants=GRANTS)
        assert outcome.value_or_raise() == denied(": the default")
        outcome = await client.run(ONE, mailbox.tools(), grants=GRANTS, approve=gives(True))
        assert outcome.value_or_raise() == "sent"


@pytest.mark.parametrize(("consent", "asked"), [("once", 4), ("run", 2), ("always", 1)])
async def test_what_a_yes_is_good_for(client: AsyncIsolith, mailbox: Mailbox, consent: Any, asked: int) -> None:
    requests = []

    def approve(request: ApprovalRequest) -> Decision:
        requests.append(request)
        return Approve(consent=consent)

    code = "return [await tools.mail({ n: 1 }), await tools.mail({ n: 2 })]"
    for _ in range(2):
        outcome = await client.run(code, mailbox.tools(), grants=GRANTS, approve=approve)
        assert outcome.value_or_raise() == ["sent", "sent"]
    assert len(requests) == asked
    assert mailbox.sent == [{"n": 1}, {"n": 2}] * 2


@pytest.mark.parametrize("is_async", [False, True])
async def test_several_are_asked_side_by_side(client: AsyncIsolith, mailbox: Mailbox, is_async: bool) -> None:
    # None is decided before all are asked.
    here, there = threading.Barrier(3, timeout=PATIENCE_S), asyncio.Event()
    asked = 0

    def decide(request: ApprovalRequest) -> Decision:
        return Deny("not two") if request.args["n"] == 2 else True

    def approve(request: ApprovalRequest) -> Decision:
        here.wait()
        return decide(request)

    async def approve_async(request: ApprovalRequest) -> Decision:
        nonlocal asked
        asked += 1
        if asked == 3:
            there.set()
        await asyncio.wait_for(there.wait(), PATIENCE_S)
        return decide(request)

    handler: Approver = approve_async if is_async else approve
    code = f"{CAUGHT} return Promise.all([1, 2, 3].map((n) => caught(tools.mail({{ n }}))))"
    outcome = await client.run(code, mailbox.tools(), grants=GRANTS, approve=handler)
    assert outcome.value_or_raise() == ["sent", denied(": not two"), "sent"]
    assert sorted(args["n"] for args in mailbox.sent) == [1, 3]


async def test_people_who_think_hold_up_no_tool(binary: str, data: object) -> None:
    done = threading.Event()

    def other(_: Any) -> str:
        done.set()
        return "done"

    def approve(_: ApprovalRequest) -> Decision:
        return done.wait(PATIENCE_S)

    async with AsyncIsolith(binary=binary, tool_threads=1) as client:
        code = "return Promise.all([tools.mail({}), tools.other()])"
        outcome = await client.run(code, [Tool("mail", dict), Tool("other", other)], grants=GRANTS, approve=approve)
        assert outcome.value_or_raise() == [{}, "done"]


async def test_a_stream_tells_of_questions(client: AsyncIsolith, mailbox: Mailbox) -> None:
    stream = client.stream("return tools.mail({})", mailbox.tools(), grants=GRANTS, approve=gives(True), run="told")
    events = [event async for event in stream]
    assert events[:2] == [
        ApprovalRequest("told", 0, "ask tool:mail", "the tool `mail`", {}),
        ToolCall(0, "mail", {}),
    ]
    assert isinstance(events[2], Outcome)


async def test_nobody_is_asked_any_more_when_the_run_is_over(client: AsyncIsolith, mailbox: Mailbox) -> None:
    asked, cancelled = asyncio.Event(), asyncio.Event()

    async def approve(_: ApprovalRequest) -> Decision:
        asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
        return True

    for leave in (False, True):
        asked.clear()
        cancelled.clear()
        stream = client.stream("return tools.mail({})", mailbox.tools(), grants=GRANTS, approve=approve)
        async with stream:
            await asyncio.wait_for(asked.wait(), PATIENCE_S)
            if not leave:
                stream.cancel()
                outcome = await asyncio.wait_for(stream.outcome(), PATIENCE_S)
                assert outcome.error is not None
                assert outcome.error.kind == "cancelled"
        await asyncio.wait_for(cancelled.wait(), PATIENCE_S)
    assert mailbox.sent == []


async def test_who_decides_sees_the_context_of_the_run(client: AsyncIsolith, mailbox: Mailbox) -> None:
    person = contextvars.ContextVar("person", default="nobody")
    seen = []

    def approve(_: ApprovalRequest) -> Decision:
        seen.append(person.get())
        return True

    async def approve_async(request: ApprovalRequest) -> Decision:
        return approve(request)

    person.set("ada")
    for handler in (approve, approve_async, lambda request: approve_async(request)):
        await client.run("return tools.mail({})", mailbox.tools(), grants=GRANTS, approve=handler)
    assert seen == ["ada"] * 3


@pytest.mark.parametrize(
    ("words", "value"),
    [(["approve"], "sent"), (["deny", "--reason", "at a terminal"], denied(": at a terminal"))],
)
async def test_elsewhere_waits_for_whoever_answers(
    client: AsyncIsolith, mailbox: Mailbox, binary: str, words: list[str], value: Any
) -> None:
    events = []
    async for event in client.stream(ONE, mailbox.tools(), grants=GRANTS, approve="elsewhere"):
        events.append(type(event))
        if isinstance(event, ApprovalRequest):
            await asyncio.to_thread(answer, binary, words, event.run)
        if isinstance(event, Outcome):
            assert event.value_or_raise() == value
    assert events.count(ApprovalRequest) == 1


async def test_someone_elsewhere_can_be_faster(client: AsyncIsolith, mailbox: Mailbox, binary: str) -> None:
    called = asyncio.Event()

    async def mail(n: int) -> str:
        called.set()
        return "sent"

    async def approve(request: ApprovalRequest) -> Decision:
        if request.args == {"n": 2}:
            return True
        await asyncio.to_thread(answer, binary, ["approve"], request.run)
        await called.wait()
        return False

    code = "return [await tools.mail({ n: 1 }), await tools.mail({ n: 2 })]"
    outcome = await asyncio.wait_for(client.run(code, [mail], grants=GRANTS, approve=approve), PATIENCE_S)
    assert outcome.value_or_raise() == ["sent", "sent"]


def answer(binary: str, words: list[str], run: str) -> None:
    """Someone at a terminal, who needs a moment until the question is kept."""
    command = [binary, "approvals", words[0], run, "--all", *words[1:]]
    for _ in range(100):
        said = subprocess.run(command, capture_output=True, text=True)
        if said.returncode == 0:
            return
        time.sleep(0.05)
    pytest.fail(said.stderr)


def test_without_asyncio(isolith: Isolith, mailbox: Mailbox) -> None:
    asked = []

    async def approve(request: ApprovalRequest) -> Decision:
        asked.append(request.args)
        return Approve(args={"to": "grace"})

    assert isolith.run(ONE, mailbox.tools(), grants=GRANTS, approve=approve).value_or_raise() == "sent"
    assert isolith.run(ONE, mailbox.tools(), grants=GRANTS, approve=gives(True)).value_or_raise() == "sent"
    assert (asked, mailbox.sent) == ([{"to": "ada"}], [{"to": "grace"}, {"to": "ada"}])
    with isolith.stream(ONE, mailbox.tools(), grants=GRANTS, approve=gives(False)) as stream:
        assert [type(event) for event in stream] == [ApprovalRequest, Outcome]


async def test_adapters_decide_on_the_loop_of_their_caller(isolith: Isolith) -> None:
    home = asyncio.get_running_loop()
    loops = []

    @langchain_tool
    def mail(to: str) -> str:
        """Sends a mail."""
        return f"sent to {to}"

    async def approve(_: ApprovalRequest) -> Decision:
        loops.append(asyncio.get_running_loop())
        return True

    options: RunOptions = {"grants": GRANTS, "approve": approve}
    run_code = code_tool(isolith, [mail], options=options)
    assert await run_code.ainvoke({"code": "return tools.mail({ to: 'ada' })"}) == '{"value":"sent to ada"}'
    assert loops == [home]
    assert (
        await asyncio.to_thread(run_code.invoke, {"code": "return tools.mail({ to: 'ada' })"})
        == '{"value":"sent to ada"}'
    )
    assert len(loops) == 2
