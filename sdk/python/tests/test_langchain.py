"""LangChain's tools in programs, and programs as its tool, with the library itself."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolCall, ToolMessage
from langchain_core.tools import StructuredTool, tool

from isolith import AsyncIsolith, ClientClosed, Isolith
from isolith.langchain import code_tool, guest_tools


@tool
def multiply(a: int, b: int = 2) -> int:
    """Multiplies two numbers."""
    return a * b


@tool
async def shout(text: str) -> str:
    """Makes it loud."""
    await asyncio.sleep(0)
    return text.upper()


@tool("look-up")
def look_up(key: str) -> dict[str, Any]:
    """Looks something up."""
    if key == "nothing":
        raise LookupError("there is nothing")
    return {"key": key}


def test_a_program_calls_langchains_tools(isolith: Isolith) -> None:
    code = "return [await tools.multiply({a: 21}), await tools.shout({text: 'hi'}), await tools.look_up({key: 'x'})]"
    outcome = isolith.run(code, guest_tools([multiply, shout, look_up]))
    assert outcome.value_or_raise() == [42, "HI", {"key": "x"}]


def test_their_errors_can_be_caught(isolith: Isolith) -> None:
    code = "try { await tools.%s } catch (error) { return error.name }"
    tools = guest_tools([multiply, look_up])
    assert isolith.run(code % "look_up({key: 'nothing'})", tools).value == "LookupError"
    assert isolith.run(code % "multiply({a: 'x'})", tools).value == "ValidationError"


def test_as_a_tool_it_can_be_invoked(isolith: Isolith) -> None:
    run_code = code_tool(isolith, [multiply, shout, len_of], options={"timeout": 5})
    assert isinstance(run_code, StructuredTool)
    assert "multiply(args: { a: number; b?: number }): Promise<unknown>" in run_code.description
    told = run_code.invoke({"code": "console.log('hm'); return tools.len_of({text: await tools.shout({text: 'abc'})})"})
    assert json.loads(told) == {"value": 3, "stdout": "hm\n"}
    assert json.loads(run_code.invoke({"code": "throw new Error('no')"}))["error"]["message"] == "no"
    assert json.loads(asyncio.run(run_code.ainvoke({"code": "return tools.multiply({a: 3})"}))) == {"value": 6}


def len_of(text: str) -> int:
    """A plain function among LangChain's tools."""
    return len(text)


async def test_with_the_async_client(client: AsyncIsolith) -> None:
    run_code = code_tool(client, [shout])
    assert json.loads(await run_code.ainvoke({"code": "return tools.shout({text: 'a'})"})) == {"value": "A"}
    with pytest.raises(ClientClosed, match="ainvoke"):
        run_code.invoke({"code": "return 1"})


def test_in_a_conversation(isolith: Isolith) -> None:
    run_code = code_tool(isolith, [multiply])
    call = ToolCall(name="run_code", args={"code": "return tools.multiply({a: 6, b: 7})"}, id="1")
    model = FakeMessagesListChatModel(responses=[AIMessage(content="", tool_calls=[call]), AIMessage(content="42")])
    asked = model.invoke([HumanMessage("what is 6 times 7?")])
    assert isinstance(asked, AIMessage)
    answer = run_code.invoke(asked.tool_calls[0])
    assert isinstance(answer, ToolMessage)
    assert (json.loads(str(answer.content)), answer.tool_call_id) == ({"value": 42}, "1")
