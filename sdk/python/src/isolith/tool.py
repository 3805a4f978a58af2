"""Plain functions as tools that a program may call: `tools.name({a: 1, b: 2})`."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, Union

from .errors import ToolDefinitionError
from .scalars import ArgumentError
from .shapes import Schema, Shape, Shapes

_NAME = re.compile(r"(?!__proto__$)[A-Za-z_$][A-Za-z0-9_$]{0,63}")
_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


@dataclass(frozen=True)
class Tool:
    """A function that the client performs for a program. `tool()` makes one from a plain function."""

    name: str
    call: Callable[[Any], Any] = field(repr=False)
    """Takes the program's argument as plain JSON values, `None` when there was none; may be async."""
    description: str | None = None
    input: Schema | None = None
    """JSON Schema of the argument. The server refuses calls that do not meet it before they get here."""
    output: Schema | None = None
    """JSON Schema of the answer, enforced by the server when given."""
    returns: Schema | None = field(default=None, repr=False)
    """What the answer looks like, for descriptions only; from the function's return hint."""

    shown: Schema | None = field(default=None, repr=False)
    """What the argument looks like, for descriptions only, where `call` checks it by itself."""

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ToolDefinitionError(
                f"`{self.name}` cannot name a tool",
                hint="use up to 64 ASCII letters, digits, `_` or `$`, not starting with a digit",
            )

    @property
    def is_async(self) -> bool:
        """Whether it runs on the event loop; the others run in threads."""
        return is_async_callable(self.call)

    def to_wire(self) -> dict[str, Any]:
        """The tool as a request lists it."""
        fields = {"name": self.name, "description": self.description, "input": self.input, "output": self.output}
        return {key: value for key, value in fields.items() if value is not None}


ToolLike: TypeAlias = Tool | Callable[..., Any]
ToolsLike: TypeAlias = Iterable[ToolLike] | Mapping[str, Any]


def tool(function: Callable[..., Any], *, name: str | None = None, description: str | None = None) -> Tool:
    """Makes a tool of a function: hints become its JSON Schema, the docstring its description."""
    named = str(name or getattr(_unwrapped(function), "__name__", ""))
    try:
        signature = inspect.signature(function, eval_str=True)
    except (NameError, TypeError, ValueError) as error:
        hint = "define the types it names at the top of a module, or give `Tool` a schema yourself"
        raise ToolDefinitionError(f"the signature of `{named}` cannot be read: {error}", hint=hint) from error
    try:
        shape, schema = _of_parameters(signature)
    except ToolDefinitionError as error:
        raise ToolDefinitionError(f"`{named}` cannot be a tool: {error.message}", hint=error.hint) from error

    documentation = inspect.getdoc(function) if not isinstance(function, functools.partial) else None
    return Tool(
        name=named,
        call=_by_keyword(function, shape),
        description=description or documentation,
        input=schema,
        returns=_of_return(signature),
    )


def collect(tools: ToolsLike | None) -> dict[str, Tool]:
    """The tools by name, from a list of functions or tools, or from a mapping that names them."""
    if tools is None:
        return {}
    if callable(tools) or isinstance(tools, (str, Tool)):
        raise ToolDefinitionError("`tools` is a list of functions, or a dict of them by name")
    if isinstance(tools, Mapping):
        each = [_renamed(one, name) for name, one in tools.items()]
    else:
        each = [one if isinstance(one, Tool) else tool(one) for one in tools]
    collected: dict[str, Tool] = {}
    for one in each:
        if one.name in collected:
            raise ToolDefinitionError(f"there are two tools called `{one.name}`", hint="name them in a dict")
        collected[one.name] = one
    return collected


def is_async_callable(function: Any) -> bool:
    """Whether calling it gives something to await."""
    function = _unwrapped(function)
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


def _renamed(one: ToolLike, name: str) -> Tool:
    if isinstance(one, Tool):
        return replace(one, name=name)
    return tool(one, name=name)


def _unwrapped(function: Any) -> Any:
    while isinstance(function, functools.partial):
        function = function.func
    return function


def _of_parameters(signature: inspect.Signature) -> tuple[Shape, Schema]:
    shapes = Shapes()
    hints: dict[str, Any] = {}
    required: list[str] = []
    for parameter in signature.parameters.values():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            raise ToolDefinitionError("it takes `**` arguments", hint="name each parameter, or take one `dict`")
        if parameter.kind not in _BY_NAME:
            raise ToolDefinitionError(
                f"`{parameter.name}` cannot be given by name", hint="a program passes arguments by name"
            )
        hint = Any if parameter.annotation is parameter.empty else parameter.annotation
        if parameter.default is parameter.empty:
            required.append(parameter.name)
        elif parameter.default is None and hint is not Any:
            hint = Union[hint, None]  # noqa: UP007 - a hint may be anything, and `|` is not for anything
        hints[parameter.name] = hint
    shape = shapes.of_fields(hints, required, lambda fields: fields)
    _add_defaults(shape.schema, signature)
    if not required:
        # `tools.now()` has no argument, which counts as null.
        shape.schema["type"] = ["object", "null"]
    return shape, shapes.wrap(shape.schema)


def _add_defaults(schema: Schema, signature: inspect.Signature) -> None:
    for name, parameter in signature.parameters.items():
        default = parameter.default
        if isinstance(default, (str, int, float, bool)) and type(default) in (str, int, float, bool):
            schema["properties"][name] = {**schema["properties"][name], "default": default}


def _of_return(signature: inspect.Signature) -> Schema | None:
    if signature.return_annotation is signature.empty:
        return None
    shapes = Shapes()
    try:
        return shapes.wrap(shapes.of(signature.return_annotation).schema)
    except ToolDefinitionError:
        # Answers are encoded by what they are; a hint that says nothing in JSON is no obstacle.
        return None


def _by_keyword(function: Callable[..., Any], shape: Shape) -> Callable[[Any], Any]:
    def arguments(value: Any) -> dict[str, Any]:
        try:
            fields: dict[str, Any] = shape.read({} if value is None else value)
            return fields
        except ArgumentError as error:
            raise TypeError(str(error)) from error

    if is_async_callable(function):

        async def call_async(value: Any) -> Any:
            return await function(**arguments(value))

        return call_async
    return lambda value: function(**arguments(value))
