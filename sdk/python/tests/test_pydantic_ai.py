"""Code mode for agents of pydantic-ai, with the library itself and a model that is a function."""

from __future__ import annotations

import asyncio
import datetime as dt
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

pytest.importorskip("pydantic_ai", reason="pydantic-ai needs a newer Python")

from pydantic_ai import Agent, DeferredToolRequests, ModelRetry, RunContext, ToolReturn
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.toolsets import FunctionToolset

from isolith import AsyncIsolith, Isolith
from isolith.pydantic_ai import CodeModeToolset


@dataclass
class User:
    name: str


def model_that_runs(code: str, seen: list[AgentInfo] | None = None) -> FunctionModel:
    """A model that runs this program, and then repeats what came of it."""

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if seen is not None:
            seen.append(info)
        last = messages[-1].parts[-1]
        if isinstance(last, ToolReturnPart):
            return ModelResponse(parts=[TextPart(json.dumps(last.content))])
        return ModelResponse(parts=[ToolCallPart("run_code", {"code": code})])

    return FunctionModel(answer)


def toolset() -> FunctionToolset[User]:
    tools: FunctionToolset[User] = FunctionToolset()

    @tools.tool
    async def greet(ctx: RunContext[User], times: int = 1) -> str:
        """Greets the user."""
        return f"hello {ctx.deps.name} " * times

    @tools.tool_plain
    def tomorrow(day: dt.date) -> dict[str, dt.date]:
        """The day after."""
        return {"day": day + dt.timedelta(days=1)}

    @tools.tool_plain(name="get-picture")
    def get_picture() -> ToolReturn:
        return ToolReturn(return_value={"width": 3}, content="for the model only")

    @tools.tool_plain
    def fussy() -> None:
        raise ModelRetry("not like this")

    return tools


async def ask(client: Isolith | AsyncIsolith, code: str, **more: Any) -> Any:
    agent = Agent(model_that_runs(code), deps_type=User, toolsets=[CodeModeToolset(toolset(), client, **more)])
    return json.loads((await agent.run("go", deps=User("Ada"))).output)


async def test_a_program_calls_the_tools_of_the_agent(client: AsyncIsolith) -> None:
    code = """
        console.log("starting");
        const [greeting, day, picture] = await Promise.all([
            tools.greet({times: 2}), tools.tomorrow({day: "2026-02-28"}), tools.get_picture(),
        ]);
        return {greeting, day, picture};
    """
    assert await ask(client, code) == {
        "value": {"greeting": "hello Ada hello Ada ", "day": {"day": "2026-03-01"}, "picture": {"width": 3}},
        "stdout": "starting\n",
    }


async def test_failures_are_for_the_model_to_react_to(client: AsyncIsolith) -> None:
    told = await ask(client, "const a = 1;\nawait tools.fussy()")
    assert (told["error"]["name"], told["error"]["message"]) == ("ModelRetry", "not like this")
    told = await ask(client, "await tools.tomorrow({day: 'soon'})")
    assert told["error"]["name"] == "ValidationError"
    told = await ask(client, "return (")
    assert told["error"]["kind"] == "syntax"
    told = await ask(client, "for (;;) {}", options={"timeout": 0.2})
    assert told["error"]["kind"] == "timeout"


async def test_the_model_sees_one_tool_with_declarations(client: AsyncIsolith) -> None:
    seen: list[AgentInfo] = []
    agent = Agent(model_that_runs("return 1", seen), toolsets=[CodeModeToolset(toolset(), client)], deps_type=User)
    await agent.run("go", deps=User("Ada"))
    [shown] = seen[0].function_tools
    assert shown.name == "run_code"
    assert "greet(args?: { times?: number }): Promise<" in (shown.description or "")
    assert "tomorrow(args: { day: string }): Promise<" in (shown.description or "")
    assert "get_picture(" in (shown.description or "")


async def test_tools_that_need_approval_stay_outside(client: AsyncIsolith) -> None:
    tools: FunctionToolset[None] = FunctionToolset()

    @tools.tool_plain(requires_approval=True)
    def delete_everything() -> str:
        raise AssertionError("nobody agreed to this")

    seen: list[AgentInfo] = []
    code = "try { return await tools.delete_everything() } catch (error) { return error.name }"
    agent = Agent(
        model_that_runs(code, seen),
        toolsets=[CodeModeToolset(tools, client)],
        output_type=[str, DeferredToolRequests],
    )
    output = (await agent.run("go")).output
    assert isinstance(output, str)
    assert json.loads(output)["value"] == "TypeError"
    assert sorted(tool.name for tool in seen[0].function_tools) == ["delete_everything", "run_code"]


def test_the_blocking_client_serves_one_event_loop_after_another(isolith: Isolith) -> None:
    loops = []
    tools: FunctionToolset[None] = FunctionToolset()

    @tools.tool_plain
    async def here() -> bool:
        loops.append(asyncio.get_running_loop())
        return True

    def fresh(run: Callable[[], Any]) -> Any:
        return run()

    async def once() -> Any:
        agent = Agent(model_that_runs("return tools.here()"), toolsets=[CodeModeToolset(tools, isolith)])
        result = await agent.run("go")
        assert loops[-1] is asyncio.get_running_loop()
        return json.loads(result.output)

    assert fresh(lambda: asyncio.run(once())) == {"value": True}
    assert fresh(lambda: asyncio.run(once())) == {"value": True}
