"""Programs in the real daemon."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from typing import Any

import pytest

from isolith import AsyncIsolith, ConnectionFailed, DaemonDied, Outcome, Output, ProgramError, RequestError, ToolCall


async def test_a_value_and_what_it_took(client: AsyncIsolith) -> None:
    outcome = await client.run("console.log('hi'); console.error('oh'); return {a: [1, null, 'ä']}")
    assert (outcome.status, outcome.ok, outcome.value) == ("ok", True, {"a": [1, None, "ä"]})
    assert (outcome.stdout, outcome.stderr) == ("hi\n", "oh\n")
    assert outcome.value_or_raise() == outcome.value
    assert outcome.usage.wall_us > 0
    assert outcome.error is None


async def test_a_failure_is_an_outcome(client: AsyncIsolith) -> None:
    outcome = await client.run("const a = 1;\nthrow new RangeError('too much')", name="late.js")
    assert not outcome.ok
    assert outcome.error is not None
    assert (outcome.error.kind, outcome.error.name, outcome.error.message) == ("thrown", "RangeError", "too much")
    assert outcome.error.line == 2
    with pytest.raises(ProgramError, match="RangeError: too much") as failed:
        outcome.value_or_raise()
    assert failed.value.outcome is outcome


@pytest.mark.parametrize(
    ("code", "options", "kind"),
    [
        ("while (true) {}", {"timeout": 0.2}, "timeout"),
        ("while (true) {}", {"limits": {"cpu": "50ms"}}, "cpu_limit"),
        ("const a = []; for (;;) a.push('x'.repeat(1e6))", {"limits": {"memory": "16MiB"}}, "memory_limit"),
        ("return (", {}, "syntax"),
        ("await new Promise(() => {})", {}, "stalled"),
        ("await kv.put('a', 1)", {"grants": ["kv:read cache"]}, "denied"),
    ],
)
async def test_every_kind_of_failure(client: AsyncIsolith, code: str, options: Any, kind: str) -> None:
    outcome = await client.run(code, **options)
    assert outcome.error is not None
    assert outcome.error.kind == kind


async def test_what_it_runs_on(client: AsyncIsolith) -> None:
    outcome = await client.run("return 1 + 1", engine="auto")
    assert (outcome.value, outcome.ran_on["engine"]) == (2, "quickjs")
    walled = await client.run("return 1 + 1", isolation="process")
    assert walled.value == 2
    assert "missing" in walled.ran_on["jail"]
    with pytest.raises(RequestError, match="write `quickjs`, `v8` or `auto`"):
        await client.run("return 1", engine="spidermonkey")  # type: ignore[arg-type]
    with pytest.raises(RequestError, match="engine `quickjs` does not support `WebAssembly`"):
        await client.run("return 1", grants=["builtin:WebAssembly"])


async def test_everything_that_goes_in(client: AsyncIsolith) -> None:
    code = "const f = (n: number): number => n; return [input.a, who, f(1), Math.random()]"
    options: Any = {"input": {"a": 5}, "args": {"who": "ada"}, "language": "typescript", "seed": 1}
    first = await client.run(code, **options)
    assert first.value_or_raise()[:3] == [5, "ada", 1]
    assert (await client.run(code, **options)).value == first.value


async def test_grants_and_nothing_else(client: AsyncIsolith) -> None:
    outcome = await client.run("await kv.put('a', 1); return [await kv.get('a'), typeof fetch]", grants=["kv:cache"])
    assert outcome.value_or_raise() == [1, "undefined"]
    assert outcome.exercised[0].grant == "kv:cache"


async def test_a_wrong_request_is_refused_with_a_code(client: AsyncIsolith) -> None:
    with pytest.raises(RequestError) as refused:
        await client.run("return 1", grants=["nonsense:x"])
    assert refused.value.code == "request.invalid"
    with pytest.raises(RequestError):
        await client.run("return 1", limits={"memory": "1B"})
    with pytest.raises(RequestError, match="cannot name a run"):
        await client.run("return 1", run="a b")
    with pytest.raises(RequestError, match="has no JSON form"):
        await client.run("return 1", input=object())
    with pytest.raises(RequestError, match="a list of grants"):
        await client.run("return 1", grants="kv:cache")
    with pytest.raises(TypeError, match="no option `limit`"):
        await client.run("return 1", limit={})  # type: ignore[call-arg]
    with pytest.raises(RequestError, match=r"the request is 25\.0 MiB"):
        await client.run("return 1", input="x" * (25 << 20))
    assert (await client.run("return 1")).value == 1


async def test_output_as_it_is_written(client: AsyncIsolith) -> None:
    seen: list[str] = []

    async def note(output: Output) -> None:
        seen.append(f"{output.stream}: {output.text}")

    code = "console.log('one'); await tools.wait(); console.warn('two')"
    seen_before: list[list[str]] = []
    outcome = await client.run(code, {"wait": lambda: seen_before.append(list(seen))}, on_output=note)
    assert outcome.ok
    assert seen == ["stdout: one", "stderr: two"]
    assert seen_before == [["stdout: one"]]


async def test_a_stream_of_events(client: AsyncIsolith) -> None:
    events = [
        event async for event in client.stream("console.log('a'); return tools.one({n: 1})", {"one": lambda n: n})
    ]
    assert isinstance(events[0], Output)
    assert isinstance(events[1], ToolCall)
    assert (events[1].name, events[1].args) == ("one", {"n": 1})
    assert isinstance(events[2], Outcome)
    assert events[2].value == 1


async def test_cancelling(client: AsyncIsolith) -> None:
    async with client.stream("for (;;) await new Promise((r) => setTimeout(r, 5))") as stream:
        stream.cancel()
        outcome = await stream.outcome()
    assert outcome.error is not None
    assert outcome.error.kind == "cancelled"

    began = time.monotonic()
    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(client.run("for (;;) {}"), 0.2)
    assert time.monotonic() - began < 5
    assert (await client.run("return 1")).ok


async def test_many_runs_at_once(client: AsyncIsolith) -> None:
    async def double(n: int) -> int:
        await asyncio.sleep(0)
        return 2 * n

    runs = [client.run("return await tools.double({n: input})", [double], input=n) for n in range(500)]
    outcomes = await asyncio.gather(*runs)
    assert [outcome.value for outcome in outcomes] == [2 * n for n in range(500)]


async def test_large_values_both_ways(client: AsyncIsolith) -> None:
    text = "ä" * (3 << 20)
    outcome = await client.run(
        "return [input === await tools.same({text: input}), input]", {"same": lambda text: text}, input=text
    )
    assert outcome.value_or_raise() == [True, text]


async def test_a_dead_daemon_fails_its_runs_and_is_replaced(client: AsyncIsolith) -> None:
    await client.run("return 1")
    runs = [asyncio.create_task(client.run("for (;;) await new Promise((r) => setTimeout(r, 5))")) for _ in range(3)]
    await asyncio.sleep(0.2)
    os.kill(client._session.link.live.pid, signal.SIGKILL)  # type: ignore[union-attr]
    failures = await asyncio.gather(*runs, return_exceptions=True)
    for failure in failures:
        assert isinstance(failure, DaemonDied)
        assert (failure.code, failure.exit_code) == ("daemon.died", -signal.SIGKILL)
    assert (await client.run("return 2")).value == 2


async def test_a_daemon_that_cannot_start_says_why(binary: str) -> None:
    async with AsyncIsolith(binary="/nowhere/isolith") as client:
        with pytest.raises(ConnectionFailed, match="there is no `/nowhere/isolith`") as failed:
            await client.run("return 1")
        assert failed.value.code == "daemon.missing"
        assert "ISOLITH_BINARY" in (failed.value.hint or "")
    async with AsyncIsolith(binary=binary, daemon_arguments=["--nonsense"]) as client:
        with pytest.raises(ConnectionFailed, match="nonsense"):
            await client.run("return 1")


async def test_closing_ends_the_daemon(binary: str) -> None:
    client = AsyncIsolith(binary=binary)
    await client.run("return 1")
    process = client._session.link.live._process  # type: ignore[union-attr]
    running = asyncio.create_task(client.run("for (;;) {}"))
    await asyncio.sleep(0.1)
    await client.close()
    assert process.returncode is not None
    assert isinstance((await asyncio.gather(running, return_exceptions=True))[0], Exception)
