"""Connections that break, servers that are busy, and runs that go on regardless."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager

import pytest
from scripted import Peer, ScriptedServer

from isolith import (
    AsyncIsolith,
    ClientClosed,
    ConnectionFailed,
    ConnectionLost,
    Outcome,
    Output,
    RequestError,
    Skipped,
)
from isolith._running import EVENTS_MAX


@asynccontextmanager
async def connected(reconnect_s: float = 10) -> AsyncIterator[tuple[ScriptedServer, AsyncIsolith]]:
    async with ScriptedServer() as server, AsyncIsolith(server.url, reconnect_s=reconnect_s) as client:
        yield server, client


async def in_time(waiting: Awaitable[Outcome]) -> Outcome:
    return await asyncio.wait_for(waiting, 10)


async def began(server: ScriptedServer) -> tuple[Peer, str]:
    peer = await server.peer()
    return peer, (await peer.expect("run"))["run"]


async def test_a_lost_answer_is_sent_again_and_the_tool_is_called_once() -> None:
    calls = []

    def add(a: int, b: int) -> int:
        calls.append((a, b))
        return a + b

    async with connected() as (server, client):
        run = asyncio.create_task(client.run("x", [add]))
        peer, name = await began(server)
        await peer.call(name, 0, "add", {"a": 1, "b": 2})
        assert (await peer.expect("reply"))["value"] == 3
        peer.drop()

        peer = await server.peer()
        assert (await peer.expect("attach"))["run"] == name
        await peer.call(name, 0, "add", {"a": 1, "b": 2})
        assert await peer.expect("reply") == {"type": "reply", "run": name, "call": 0, "value": 3}
        await peer.refuse(name, "call.answered")
        await peer.call(name, 1, "add", {"a": 3, "b": 4})
        assert (await peer.expect("reply"))["value"] == 7
        await peer.outcome(name, "done")
        assert (await in_time(run)).value == "done"
        assert calls == [(1, 2), (3, 4)]


async def test_a_tool_that_outlasts_a_connection_answers_on_the_next() -> None:
    release = asyncio.Event()
    calls = 0

    async def slow() -> str:
        nonlocal calls
        calls += 1
        await release.wait()
        return "late"

    async with connected() as (server, client):
        run = asyncio.create_task(client.run("x", [slow]))
        peer, name = await began(server)
        await peer.call(name, 0, "slow")
        await peer.connection.ping()
        peer.drop()
        peer = await server.peer()
        await peer.expect("attach")
        await peer.call(name, 0, "slow")
        release.set()
        assert (await peer.expect("reply"))["value"] == "late"
        await peer.outcome(name)
        await in_time(run)
        assert calls == 1


async def test_a_run_the_server_never_read_of_is_sent_again() -> None:
    async with connected() as (server, client):
        run = asyncio.create_task(client.run("x"))
        peer, name = await began(server)
        peer.drop()
        peer = await server.peer()
        await peer.expect("attach")
        await peer.refuse(name, "run.unknown")
        assert (await peer.expect("run"))["run"] == name
        # It had read of it after all, a moment later.
        await peer.refuse(name, "run.exists")
        await peer.expect("attach")
        await peer.outcome(name, 1)
        assert (await in_time(run)).value == 1


async def test_a_run_the_server_forgot_is_a_refusal() -> None:
    async with connected() as (server, client):
        run = asyncio.create_task(client.run("x"))
        peer, name = await began(server)
        await peer.say("output", run=name, stream="stdout", text="alive", at_ms=0)
        await asyncio.sleep(0.05)
        peer.drop()
        peer = await server.peer()
        await peer.expect("attach")
        await peer.refuse(name, "run.unknown")
        with pytest.raises(RequestError, match=r"run\.unknown"):
            await in_time(run)


async def test_a_busy_server_is_asked_again_when_it_says_so() -> None:
    async with connected() as (server, client):
        run = asyncio.create_task(client.run("x"))
        peer, name = await began(server)
        for _ in range(3):
            await peer.refuse(name, "server.busy", retry_after_ms=1)
            assert (await peer.expect("run"))["run"] == name
        await peer.outcome(name, "at last")
        assert (await in_time(run)).value == "at last"


async def test_a_server_that_stays_busy_is_left_alone() -> None:
    async with connected() as (server, client):
        run = asyncio.create_task(client.run("x"))
        peer, name = await began(server)
        for _ in range(7):
            await peer.refuse(name, "server.busy", retry_after_ms=1)
            await peer.expect("run")
        await peer.refuse(name, "server.busy", retry_after_ms=1500)
        with pytest.raises(RequestError) as refused:
            await in_time(run)
        assert refused.value.retry_after == 1.5


async def test_a_refused_request_says_why() -> None:
    async with connected() as (server, client):
        run = asyncio.create_task(client.run("x", grants=["nonsense"]))
        peer, name = await began(server)
        await peer.refuse(name, "request.invalid", hint="write it so", field="grants")
        with pytest.raises(RequestError) as refused:
            await in_time(run)
        assert (refused.value.code, refused.value.hint, refused.value.field) == (
            "request.invalid",
            "write it so",
            "grants",
        )


async def test_a_server_that_does_not_come_back_fails_every_run() -> None:
    async with connected(reconnect_s=0.3) as (server, client):
        runs = [asyncio.create_task(client.run("x")) for _ in range(3)]
        peer = await server.peer()
        for _ in runs:
            await peer.expect("run")
        server.stop()
        peer.drop()
        failures = await asyncio.wait_for(asyncio.gather(*runs, return_exceptions=True), 10)
        assert [type(failure) for failure in failures] == [ConnectionLost] * 3
        assert len({id(failure) for failure in failures}) == 3
        with pytest.raises(ConnectionFailed):
            await client.run("x")
        await server.start()
        run = asyncio.create_task(client.run("x"))
        peer, name = await began(server)
        await peer.outcome(name)
        assert (await in_time(run)).ok


async def test_the_time_for_connecting_again_is_for_each_break_by_itself() -> None:
    async with connected(reconnect_s=0.3) as (server, client):
        run = asyncio.create_task(client.run("x"))
        peer, name = await began(server)
        for _ in range(5):
            await peer.say("output", run=name, stream="stdout", text="alive", at_ms=0)
            await asyncio.sleep(0.15)
            peer.drop()
            peer = await server.peer()
            await peer.expect("attach")
        await peer.outcome(name, "through")
        assert (await in_time(run)).value == "through"


async def test_a_server_that_only_talks_nonsense_is_given_up() -> None:
    async with connected(reconnect_s=0.5) as (server, client):
        run = asyncio.create_task(client.run("x"))

        async def talk_nonsense() -> None:
            while True:
                await (await server.peer()).connection.send("nonsense")

        talking = asyncio.create_task(talk_nonsense())
        with pytest.raises(ConnectionLost, match="what is no JSON"):
            await in_time(run)
        talking.cancel()


async def test_cancelling_the_task_stops_the_run_even_over_a_broken_connection() -> None:
    async with connected() as (server, client):
        run = asyncio.create_task(client.run("x"))
        peer, name = await began(server)
        run.cancel()
        assert (await peer.expect("cancel"))["run"] == name
        with pytest.raises(asyncio.CancelledError):
            await run
        peer.drop()
        peer = await server.peer()
        assert (await peer.expect("attach"))["run"] == name
        assert (await peer.expect("cancel"))["run"] == name
        await peer.outcome(name)


async def test_a_run_that_is_stopped_before_it_started_is_stopped_all_the_same() -> None:
    async with connected() as (server, client), client.stream("x") as stream:
        peer, name = await began(server)
        stream.cancel()
        await peer.expect("cancel")
        await peer.refuse(name, "run.unknown")
        await peer.expect("cancel")
        await peer.outcome(name, "stopped")
        assert (await in_time(stream.outcome())).value == "stopped"


async def test_cancelling_a_run_cancels_its_async_tools() -> None:
    cancelled = asyncio.Event()
    started = asyncio.Event()

    async def wait() -> None:
        started.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    async with connected() as (server, client):
        run = asyncio.create_task(client.run("x", [wait]))
        peer, name = await began(server)
        await peer.call(name, 0, "wait")
        await started.wait()
        run.cancel()
        await asyncio.wait_for(cancelled.wait(), 5)


async def test_leaving_a_stream_early_stops_its_run() -> None:
    async with connected() as (server, client):

        async def first_output() -> str:
            async for event in client.stream("x"):
                assert isinstance(event, Output)
                return event.text
            raise AssertionError

        first = asyncio.create_task(first_output())
        peer, name = await began(server)
        await peer.say("output", run=name, stream="stdout", text="one", at_ms=0)
        assert await first == "one"
        assert (await peer.expect("cancel"))["run"] == name


async def test_a_slow_reader_misses_outputs_and_is_told_so() -> None:
    async with connected() as (server, client):
        async with client.stream("x") as stream:
            peer, name = await began(server)
            for number in range(EVENTS_MAX + 10):
                await peer.say("output", run=name, stream="stdout", text=str(number), at_ms=0)
            # Other runs on the same connection are not held up by the one that is not read.
            other = asyncio.create_task(client.run("y"))
            await peer.outcome((await peer.expect("run"))["run"], "quick")
            assert (await in_time(other)).value == "quick"
            await peer.outcome(name)
            events = [event async for event in stream]
        assert len(events) == EVENTS_MAX + 2
        assert events[-2] == Skipped(10)
        assert isinstance(events[-1], Outcome)


async def test_what_was_not_understood_does_not_hang() -> None:
    async with connected() as (server, client):
        run = asyncio.create_task(client.run("x"))
        peer, _ = await began(server)
        await peer.refuse(None, "request.invalid")
        with pytest.raises(RequestError, match=r"request\.invalid"):
            await in_time(run)
        # With more than one that could be meant, the runs are asked about over a new connection.
        runs = [asyncio.create_task(client.run("x", run=name)) for name in ("a", "b")]
        for _ in runs:
            await peer.expect("run")
        await peer.refuse(None, "request.invalid")
        peer = await server.peer()
        for name in ("a", "b"):
            assert (await peer.expect("attach"))["run"] == name
            await peer.outcome(name, 1)
        assert [outcome.value for outcome in await asyncio.gather(*runs)] == [1, 1]


async def test_closing_tells_those_who_wait_and_stops_their_runs() -> None:
    async with connected() as (server, client):
        run = asyncio.create_task(client.run("x"))
        peer, name = await began(server)
        closing = asyncio.create_task(client.close())
        assert (await peer.expect("cancel"))["run"] == name
        peer.done.set()
        await closing
        with pytest.raises(ClientClosed):
            await run
        with pytest.raises(ClientClosed):
            await client.run("x")


async def test_at_most_so_many_runs_at_once() -> None:
    async with ScriptedServer() as server, AsyncIsolith(server.url, runs_at_once=2) as client:
        runs = [asyncio.create_task(client.run("x")) for _ in range(3)]
        peer = await server.peer()
        names = [(await peer.expect("run"))["run"] for _ in range(2)]
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(peer.connection.recv(), 0.1)
        await peer.outcome(names[0])
        names.append((await peer.expect("run"))["run"])
        for name in names[1:]:
            await peer.outcome(name)
        await asyncio.gather(*runs)


async def test_tools_see_the_context_of_who_started_the_run() -> None:
    user = contextvars.ContextVar("user", default="nobody")

    def plain() -> str:
        return user.get()

    async def later() -> str:
        return user.get()

    async with connected() as (server, client):
        first = asyncio.create_task(client.run("x"))
        peer, name = await began(server)
        await peer.outcome(name)
        await first
        user.set("ada")
        run = asyncio.create_task(client.run("x", [plain, later]))
        name = (await peer.expect("run"))["run"]
        for call, tool in enumerate(["plain", "later"]):
            await peer.call(name, call, tool)
            assert (await peer.expect("reply"))["value"] == "ada"
        await peer.outcome(name)
        await run


async def test_a_name_is_used_once_at_a_time() -> None:
    async with connected() as (server, client):
        run = asyncio.create_task(client.run("x", run="mine"))
        peer, name = await began(server)
        assert name == "mine"
        with pytest.raises(RequestError, match="a run called `mine` already"):
            await client.run("x", run="mine")
        await peer.outcome("mine")
        await run


def test_a_client_belongs_to_one_event_loop() -> None:
    client = AsyncIsolith("http://127.0.0.1:9")

    async def attempt() -> None:
        with pytest.raises(ConnectionFailed):
            await client.run("x")

    asyncio.run(attempt())
    with pytest.raises(ClientClosed, match="another event loop"):
        asyncio.run(attempt())


@pytest.mark.parametrize("url", ["", "localhost", "ftp://x", "http://", "http://x/?a", "http://x:99999", "http://a b"])
def test_addresses_are_checked(url: str) -> None:
    with pytest.raises(RequestError, match="no address"):
        AsyncIsolith(url)


def test_keys_cannot_add_headers() -> None:
    with pytest.raises(RequestError) as refused:
        AsyncIsolith("http://localhost", "isk_a\r\nHost: evil")
    assert "evil" not in str(refused.value)
