"""The real server: runs over a socket, and what it keeps."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path

import pytest
from conftest import Server

from isolith import AsyncIsolith, ConnectionFailed, Isolith, RequestError

PATIENCE_S = 30


async def test_runs_with_tools_over_a_socket(server: Server) -> None:
    async def double(n: int) -> int:
        return 2 * n

    async with AsyncIsolith(server.url) as client:
        runs = [client.run("return await tools.double({n: input})", [double], input=n) for n in range(100)]
        assert [outcome.value for outcome in await asyncio.gather(*runs)] == [2 * n for n in range(100)]


async def test_a_run_goes_on_after_a_broken_connection(server: Server) -> None:
    calls = []

    async with AsyncIsolith(server.url) as client:

        async def step(n: int) -> int:
            calls.append(n)
            if n == 1:
                # The connection breaks while the program waits for this answer.
                client._session.link.live._writer.transport.abort()  # type: ignore[union-attr]
                await asyncio.sleep(0.05)
            return n * 10

        code = "const a = await tools.step({n: 1}); const b = await tools.step({n: 2}); return a + b"
        outcome = await asyncio.wait_for(client.run(code, [step]), PATIENCE_S)
        assert outcome.value_or_raise() == 30
        assert calls == [1, 2]


async def test_a_run_that_waits_survives_a_restart_of_the_server(server: Server) -> None:
    asked, release = asyncio.Event(), asyncio.Event()

    async def ask() -> str:
        asked.set()
        await release.wait()
        return "yes"

    async with AsyncIsolith(server.url) as client:
        run = asyncio.create_task(client.run("const before = 40; return [await tools.ask(), before + 2]", [ask]))
        await asked.wait()
        # A run that waits leaves memory after a moment.
        await asyncio.sleep(1)
        await asyncio.to_thread(server.stop)
        await asyncio.to_thread(server.start)
        release.set()
        assert (await asyncio.wait_for(run, PATIENCE_S)).value_or_raise() == ["yes", 42]


async def test_many_breaks_and_no_call_is_made_twice(server: Server) -> None:
    calls: list[int] = []

    async def note(n: int) -> int:
        calls.append(n)
        await asyncio.sleep(0.002)
        return n

    async with AsyncIsolith(server.url) as client:

        async def breaking() -> None:
            while True:
                await asyncio.sleep(0.03)
                if client._session.link.live is not None:
                    client._session.link.live._writer.transport.abort()  # type: ignore[attr-defined]

        breaks = asyncio.create_task(breaking())
        code = "let sum = 0; for (let n = 0; n < 30; n++) sum += await tools.note({n: input * 100 + n}); return sum"
        runs = [asyncio.create_task(client.run(code, [note], input=n)) for n in range(5)]
        outcomes = await asyncio.wait_for(asyncio.gather(*runs), PATIENCE_S)
        breaks.cancel()
        assert [outcome.value_or_raise() for outcome in outcomes] == [435 + 3000 * n for n in range(5)]
        assert sorted(calls) == sorted({n * 100 + m for n in range(5) for m in range(30)})


async def test_runs_by_name(server: Server) -> None:
    async with AsyncIsolith(server.url) as client:
        await client.run("return 1", run="first")
        assert (await client.runs.get("first")).value == 1
        assert [row["run"] for row in await client.runs.list(limit=5)] == ["first"]
        with pytest.raises(RequestError) as refused:
            await client.run("return 1", run="first")
        assert refused.value.code == "run.exists"
        with pytest.raises(RequestError) as refused:
            await client.runs.get("nobody")
        assert (refused.value.code, refused.value.status) == ("run.unknown", 404)

        going_on = asyncio.create_task(client.run("await new Promise((r) => setTimeout(r, 60_000))", run="long"))
        while (await client.runs.list())[0]["run"] != "long":
            await asyncio.sleep(0.01)
        stopped = await client.runs.cancel("long")
        assert stopped.error is not None
        assert stopped.error.kind == "cancelled"
        assert not (await going_on).ok


async def test_cancelling_the_task_cancels_the_run(server: Server) -> None:
    async with AsyncIsolith(server.url) as client:
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(client.run("await new Promise((r) => setTimeout(r, 60_000))", run="gone"), 0.3)
        outcome = await client.runs.get("gone", wait_s=10)
        assert outcome.error is not None
        assert outcome.error.kind == "cancelled"


def test_secrets_and_audit(server: Server) -> None:
    with Isolith(server.url) as client:
        client.secrets.set("TOKEN", "s3cret")
        assert client.secrets.list() == ["TOKEN"]
        client.secrets.delete("TOKEN")
        assert client.secrets.list() == []
        client.run("await kv.get('a'); try { await kv.put('a', 1) } catch {}", grants=["kv:read cache"], run="audited")
        rows = client.audit(run="audited")
        assert sorted((row["what"], row["outcome"]) for row in rows) == [("get cache", "ok"), ("put cache", "denied")]
        assert len(client.audit(run="audited", denied=True)) == 1


def test_a_key_is_needed_once_there_is_one(server: Server, binary: str, data: Path) -> None:
    made = subprocess.run([binary, "key", "create", "agents"], capture_output=True, text=True, check=True)
    key = next(word for word in made.stdout.split() if word.startswith("isk_"))
    with Isolith(server.url, key) as client:
        assert client.run("return 1").value == 1
        assert client.runs.list()
    with Isolith(server.url) as client:
        with pytest.raises(RequestError) as refused:
            client.run("return 1")
        assert refused.value.status == 401
        with pytest.raises(RequestError):
            client.runs.list()
    with Isolith(server.url, "isk_wrong") as client, pytest.raises(RequestError):
        client.run("return 1")


def test_no_server_there() -> None:
    with Isolith("http://127.0.0.1:9") as client:
        with pytest.raises(ConnectionFailed) as failed:
            client.run("return 1")
        assert failed.value.code == "connection.failed"
        with pytest.raises(ConnectionFailed):
            client.runs.list()
