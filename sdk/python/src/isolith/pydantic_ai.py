"""Code mode for pydantic-ai: the model writes one program that calls many tools.

agent = Agent(model, toolsets=[CodeModeToolset(FunctionToolset([search, fetch]), isolith)])
"""

from __future__ import annotations

import inspect
import itertools
from dataclasses import dataclass, field, replace
from typing import Any

import pydantic_core
from pydantic import TypeAdapter
from pydantic_ai import RunContext, ToolDefinition, ToolReturn
from pydantic_ai.tools import AgentDepsT
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool, WrapperToolset
from typing_extensions import TypedDict

from ._codemode import CODE_SCHEMA, identifiers, instructions, report, run_from_any_loop
from ._request import RunOptions
from .blocking import Isolith
from .client import AsyncIsolith
from .results import to_json
from .tool import Tool


class _CodeArguments(TypedDict):
    code: str


_CODE_VALIDATOR = pydantic_core.SchemaValidator(TypeAdapter(_CodeArguments).core_schema)


@dataclass
class CodeModeToolset(WrapperToolset[AgentDepsT]):
    """Shows the model one tool, `run_code`, in place of the tools of another toolset, which programs call instead.

    Tools that wait for someone's approval, or are performed elsewhere, stay as they are: a program cannot wait for
    a person. A program that fails is an answer with an `error`, which the model sees and can react to.
    """

    wrapped: AbstractToolset[AgentDepsT]
    client: Isolith | AsyncIsolith
    """`Isolith` works with `run_sync` too, which makes a new event loop each time."""
    name: str = "run_code"
    options: RunOptions = field(default_factory=lambda: RunOptions())
    """Grants and limits of the programs."""
    max_retries: int = 3
    """How often the model may call it with something that is no program at all."""

    async def get_tools(self, ctx: RunContext[AgentDepsT]) -> dict[str, ToolsetTool[AgentDepsT]]:
        inside, outside = await self._divide(ctx)
        description = instructions(self._guest_tools(inside, ctx))
        run_code = ToolsetTool(
            toolset=self,
            tool_def=ToolDefinition(
                name=self.name, description=description, parameters_json_schema=CODE_SCHEMA, return_schema=None
            ),
            max_retries=self.max_retries,
            args_validator=_CODE_VALIDATOR,
        )
        return {**outside, self.name: run_code}

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[AgentDepsT], tool: ToolsetTool[AgentDepsT]
    ) -> Any:
        if name != self.name:
            return await super().call_tool(name, tool_args, ctx, tool)
        inside, _ = await self._divide(ctx)
        tools = self._guest_tools(inside, ctx)
        return report(await run_from_any_loop(self.client, tool_args["code"], tools, self.options))

    async def _divide(
        self, ctx: RunContext[AgentDepsT]
    ) -> tuple[dict[str, ToolsetTool[AgentDepsT]], dict[str, ToolsetTool[AgentDepsT]]]:
        """The tools that programs call, and those that the model goes on calling itself."""
        inside: dict[str, ToolsetTool[AgentDepsT]] = {}
        outside: dict[str, ToolsetTool[AgentDepsT]] = {}
        for name, tool in (await super().get_tools(ctx)).items():
            callable_inside = tool.tool_def.kind == "function" and not tool.tool_def.defer_loading
            (inside if callable_inside else outside)[name] = tool
        return inside, outside

    def _guest_tools(self, tools: dict[str, ToolsetTool[AgentDepsT]], ctx: RunContext[AgentDepsT]) -> list[Tool]:
        names = identifiers(tools)
        numbers = itertools.count(1)
        return [self._guest_tool(names[name], name, tool, ctx, numbers) for name, tool in tools.items()]

    def _guest_tool(
        self,
        guest_name: str,
        name: str,
        tool: ToolsetTool[AgentDepsT],
        ctx: RunContext[AgentDepsT],
        numbers: itertools.count[int],
    ) -> Tool:
        async def call(args: Any) -> Any:
            inner = replace(ctx, tool_name=name, tool_call_id=f"{ctx.tool_call_id or self.name}-{next(numbers)}")
            checked = tool.args_validator.validate_json(to_json(args or {}), context=ctx.validation_context)
            if tool.args_validator_func is not None:
                verdict = tool.args_validator_func(inner, **checked)
                if inspect.isawaitable(verdict):
                    await verdict
            answer = await self.wrapped.call_tool(name, checked, inner, tool)
            if isinstance(answer, ToolReturn):
                answer = answer.return_value
            return pydantic_core.to_jsonable_python(answer)

        definition = tool.tool_def
        # The library's own validator decides; its errors are the better ones, and it knows defaults and coercions.
        return Tool(
            guest_name,
            call,
            definition.description,
            returns=getattr(definition, "return_schema", None),
            shown=definition.parameters_json_schema,
        )
