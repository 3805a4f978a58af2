"""The client without asyncio."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from isolith import ClientClosed, Isolith, Outcome, Output, RequestError

FOREVER = "for (;;) await new Promise((r) => setTimeout(r, 5))"


def add(a: int, b: int) -> int:
    return a + b


def test_a_program_with_a_tool(isolith: Isolith) -> None:
    assert isolith.run("return await tools.add({a: 1, b: 2})", [add]).value_or_raise() == 3


def test_outputs_come_in_the_thread_of_the_caller(isolith: Isolith) -> None:
    seen: list[tuple[str, bool]] = []
    here = threading.current_thread()
    isolith.run(
        "console.log('a'); console.log('b')",
        on_output=lambda output: seen.append((output.text, threading.current_thread() is here)),
    )
    assert seen == [("a", True), ("b", True)]


def test_a_callback_that_raises_stops_the_run(isolith: Isolith) -> None:
    def refuse(output: Output) -> None:
        raise LookupError(output.text)

    with pytest.raises(LookupError, match="enough"):
        isolith.run(f"console.log('enough'); {FOREVER}", on_output=refuse)
    assert isolith.run("return 1").ok


def test_a_stream(isolith: Isolith) -> None:
    events = list(isolith.stream("console.log('a'); return 1"))
    assert isinstance(events[0], Output)
    assert isinstance(events[-1], Outcome)
    for event in isolith.stream(f"console.log('first'); {FOREVER}"):
        assert isinstance(event, Output)
        break
    assert isolith.run("return 1").ok


def test_cancelling_from_another_thread(isolith: Isolith) -> None:
    with isolith.stream(FOREVER) as stream:
        threading.Timer(0.1, stream.cancel).start()
        outcome = stream.outcome()
    assert outcome.error is not None
    assert outcome.error.kind == "cancelled"
    threading.Timer(0.2, isolith.cancel, ["mine"]).start()
    assert isolith.run(FOREVER, run="mine").error is not None


def test_an_interrupt_stops_the_run(isolith: Isolith) -> None:
    isolith.run("return 1")
    # Whoever is started in the background of a shell has it ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Timer(0.3, os.kill, [os.getpid(), signal.SIGINT]).start()
        with pytest.raises(KeyboardInterrupt):
            isolith.run("for (;;) {}")
    finally:
        signal.signal(signal.SIGINT, before)
    assert isolith.run("return 1").ok


def test_many_threads_share_one_client(isolith: Isolith) -> None:
    with ThreadPoolExecutor(16) as pool:
        runs = pool.map(lambda n: isolith.run("return tools.add({a: input, b: 1})", [add], input=n).value, range(200))
        assert list(runs) == list(range(1, 201))


def test_it_works_inside_a_running_event_loop(isolith: Isolith) -> None:
    async def notebook() -> int:
        value: int = isolith.run("return 1").value
        return value

    assert asyncio.run(notebook()) == 1


def test_an_async_tool_cannot_wait_for_its_own_loop(isolith: Isolith) -> None:
    async def inner() -> None:
        isolith.run("return 1")

    outcome = isolith.run("await tools.inner()", [inner])
    assert outcome.error is not None
    assert outcome.error.message == "waiting here would wait for itself"


def test_a_plain_tool_may_run_programs_itself(isolith: Isolith) -> None:
    def inner() -> int:
        value: int = isolith.run("return 5").value
        return value

    assert isolith.run("return tools.inner()", [inner]).value_or_raise() == 5


def test_refusals_and_closing(binary: str, data: Path) -> None:
    client = Isolith(binary=binary)
    with pytest.raises(RequestError):
        client.run("return 1", grants=["nonsense:x"])
    with pytest.raises(ClientClosed, match="a local daemon keeps nothing"):
        client.runs.list()
    client.close()
    client.close()
    with pytest.raises(ClientClosed):
        client.run("return 1")
    Isolith(binary=binary).close()


def test_a_forgotten_client_leaves_no_thread(binary: str, data: Path) -> None:
    client = Isolith(binary=binary)
    client.run("return 1")
    assert client._running is not None
    thread = client._running.thread
    del client
    gc.collect()
    thread.join(10)
    assert not thread.is_alive()


@pytest.mark.parametrize("ending", ["", "client.close()", "sys.exit(3)", "raise SystemExit(3)", "hang()"])
def test_python_exits_whatever_goes_on(binary: str, data: Path, ending: str) -> None:
    program = f"""
import sys, threading, time
from isolith import Isolith
client = Isolith(binary={binary!r})
print(client.run("return 1").value, flush=True)
def hang():
    client.run("await tools.sleep()", {{"sleep": lambda: time.sleep(3600)}}, timeout=0.3)
{ending}
"""
    done = subprocess.run([sys.executable, "-X", "dev", "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout == "1\n"
    assert done.stderr == ""
    assert done.returncode == (3 if "3)" in ending else 0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_client_survives_a_fork(isolith: Isolith) -> None:
    assert isolith.run("return 1").value == 1
    child = os.fork()
    if child == 0:
        value = 0
        try:
            value = isolith.run("return 7").value
            isolith.close()
        finally:
            os._exit(value)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert isolith.run("return 2").value == 2
