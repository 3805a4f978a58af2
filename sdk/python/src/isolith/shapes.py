"""Type hints as JSON Schema, and JSON as the values that the hints promise.

Both come from one walk over a hint, so that what a schema admits is what a function can be given.
"""

from __future__ import annotations

import collections.abc as abc
import dataclasses
import enum
import types
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin, get_type_hints

from . import scalars
from .constraints import apply_annotations
from .errors import ToolDefinitionError
from .scalars import ArgumentError, Read, expected

Schema = dict[str, Any]
_NONE = type(None)
_ARRAYS = (list, abc.Sequence, abc.MutableSequence, abc.Iterable, abc.Collection)
_SETS: dict[Any, Callable[[Any], Any]] = {set: set, frozenset: frozenset, abc.Set: set, abc.MutableSet: set}
_OBJECTS = (dict, abc.Mapping, abc.MutableMapping)


@dataclass(frozen=True, slots=True)
class Shape:
    """What a hint admits, and how a JSON value becomes a value of it."""

    schema: Schema
    read: Read


class Shapes:
    """Builds shapes, and collects the schemas that have names under `$defs`: types may contain themselves."""

    def __init__(self) -> None:
        self.defs: dict[str, Schema] = {}
        self._names: dict[Any, str] = {}
        self._reads: dict[Any, Read] = {}

    def of(self, hint: Any) -> Shape:
        """The shape of a hint, or a `ToolDefinitionError`."""
        if hint in (Any, object):
            return Shape({}, lambda value: value)
        if hint is None or hint is _NONE:
            return Shape({"type": "null"}, scalars.read_null)
        if isinstance(hint, type) and get_origin(hint) is None:
            return self._of_class(hint)
        if isinstance(hint, typing.TypeVar):
            return self.of(hint.__bound__ if hint.__bound__ is not None else Any)
        if hasattr(hint, "__supertype__"):  # NewType
            return self.of(hint.__supertype__)
        if hasattr(hint, "__value__"):  # type X = ...
            return self.of(hint.__value__)
        return self._of_generic(hint, get_origin(hint), get_args(hint))

    def wrap(self, schema: Schema) -> Schema:
        """A schema that stands alone, with its `$defs`."""
        return {**schema, "$defs": self.defs} if self.defs else schema

    def _of_class(self, hint: Any) -> Shape:
        if hint in scalars.SCALARS:
            schema, read = scalars.SCALARS[hint]
            return Shape(dict(schema), read)
        if issubclass(hint, enum.Enum):
            return _choice([(member.value, member) for member in hint])
        if hasattr(hint, "model_json_schema") and hasattr(hint, "model_validate"):
            return self._named(hint, lambda: self._of_model(hint))
        if dataclasses.is_dataclass(hint):
            return self._named(hint, lambda: self._of_dataclass(hint))
        if issubclass(hint, tuple) and hasattr(hint, "_fields"):
            hints = get_type_hints(hint, include_extras=True)
            return self._of_tuple([hints.get(name, Any) for name in hint._fields], lambda items: hint(*items))
        if hasattr(hint, "__required_keys__"):  # TypedDict
            return self._named(hint, lambda: self._of_typed_dict(hint))
        if hint in _ARRAYS or hint in _SETS or hint in _OBJECTS or hint is tuple:
            return self._of_generic(hint, hint, ())
        raise _unknown(hint)

    def _of_generic(self, hint: Any, origin: Any, args: tuple[Any, ...]) -> Shape:
        if origin is typing.Annotated:
            shape = self.of(args[0])
            return Shape(apply_annotations(shape.schema, args[1:]), shape.read)
        if origin is typing.Union or origin is types.UnionType:
            return self._of_union(args)
        if origin is Literal:
            return _choice([(arg.value if isinstance(arg, enum.Enum) else arg, arg) for arg in args])
        if origin in _ARRAYS:
            return self._of_array(args[0] if args else Any, list, {})
        if origin in _SETS:
            return self._of_array(args[0] if args else Any, _SETS[origin], {"uniqueItems": True})
        if origin in _OBJECTS:
            return self._of_mapping(*(args or (str, Any)))
        if origin is tuple:
            if not args or args[-1] is Ellipsis:
                return self._of_array(args[0] if args else Any, tuple, {})
            return self._of_tuple([] if args == ((),) else list(args), tuple)
        if _is_key_wrapper(origin):
            return self.of(args[0])
        if isinstance(origin, type):
            return self.of(origin)
        raise _unknown(hint)

    def _of_union(self, options: tuple[Any, ...]) -> Shape:
        shapes = [self.of(option) for option in options]

        def read(value: Any) -> Any:
            problems = []
            for shape in shapes:
                try:
                    return shape.read(value)
                except ArgumentError as error:
                    problems.append(str(error))
            raise ArgumentError(", and ".join(dict.fromkeys(problems)))

        return Shape({"anyOf": [shape.schema for shape in shapes]}, read)

    def _of_array(self, item_hint: Any, build: Callable[[Any], Any], more: Schema) -> Shape:
        item = self.of(item_hint)

        def read(value: Any) -> Any:
            items = expected(list, value, "an array")
            try:
                return build([_inside(f"[{at}]", item.read, one) for at, one in enumerate(items)])
            except TypeError as error:
                raise ArgumentError(str(error)) from error

        return Shape({"type": "array", "items": item.schema, **more}, read)

    def _of_tuple(self, hints: list[Any], build: Callable[[Any], Any]) -> Shape:
        shapes = [self.of(hint) for hint in hints]

        def read(value: Any) -> Any:
            items = expected(list, value, "an array")
            if len(items) != len(shapes):
                raise ArgumentError(f"expected {len(shapes)} items, not {len(items)}")
            pairs = zip(shapes, items, strict=True)
            return build([_inside(f"[{at}]", shape.read, one) for at, (shape, one) in enumerate(pairs)])

        counted = {"minItems": len(shapes), "maxItems": len(shapes)}
        return Shape({"type": "array", "prefixItems": [shape.schema for shape in shapes], **counted}, read)

    def _of_mapping(self, key_hint: Any, value_hint: Any) -> Shape:
        key, value_shape = self.of(key_hint), self.of(value_hint)
        if key.schema.get("type", "string") != "string":
            raise ToolDefinitionError(f"`dict[{key_hint!r}, …]` has no JSON form: the keys of an object are strings")

        def read(value: Any) -> Any:
            items = expected(dict, value, "an object").items()
            return {key.read(name): _inside(f".{name}", value_shape.read, one) for name, one in items}

        return Shape({"type": "object", "additionalProperties": value_shape.schema}, read)

    def _of_dataclass(self, hint: Any) -> Shape:
        hints = get_type_hints(hint, include_extras=True)
        fields = [field for field in dataclasses.fields(hint) if field.init]
        missing = dataclasses.MISSING
        required = [f.name for f in fields if f.default is missing and f.default_factory is missing]
        return self.of_fields({field.name: hints[field.name] for field in fields}, required, lambda kw: hint(**kw))

    def _of_typed_dict(self, hint: Any) -> Shape:
        hints = get_type_hints(hint, include_extras=True)
        required = []
        for name, each in hints.items():
            wrapper = str(get_origin(each)).rpartition(".")[2]
            if wrapper == "Required" or (wrapper != "NotRequired" and name in hint.__required_keys__):
                required.append(name)
        return self.of_fields(hints, required, lambda fields: fields)

    def of_fields(self, hints: dict[str, Any], required: list[str], build: Callable[[dict[str, Any]], Any]) -> Shape:
        """An object with these fields and no others."""
        shapes = {name: self.of(hint) for name, hint in hints.items()}

        def read(value: Any) -> Any:
            fields = expected(dict, value, "an object")
            if unknown := [name for name in fields if name not in shapes]:
                raise ArgumentError(f"there is no `{unknown[0]}` here, only {', '.join(map(repr, shapes))}")
            if lacking := [name for name in required if name not in fields]:
                raise ArgumentError(f"`{lacking[0]}` is missing")
            read_fields = {name: _inside(f".{name}", shapes[name].read, one) for name, one in fields.items()}
            try:
                return build(read_fields)
            except (TypeError, ValueError) as error:  # what a `__post_init__` refuses
                raise ArgumentError(str(error)) from error

        properties = {name: shape.schema for name, shape in shapes.items()}
        schema: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
        return Shape({**schema, "required": required} if required else schema, read)

    def _of_model(self, model: Any) -> Shape:
        """A pydantic model. Its own rules hold: pydantic makes the schema, and reads the value."""
        schema: Schema = model.model_json_schema()
        inner = schema.pop("$defs", {})
        renamed: dict[str, str] = {}
        for name in inner:
            renamed[name] = self._free_name(name)
            self.defs[renamed[name]] = {}
        self.defs.update({renamed[name]: _point(one, renamed) for name, one in inner.items()})
        schema = _point(schema, renamed)

        def read(value: Any) -> Any:
            try:
                return model.model_validate(value)
            except ValueError as error:
                raise ArgumentError(str(error)) from error

        return Shape(schema, read)

    def _named(self, hint: Any, build: Callable[[], Shape]) -> Shape:
        if hint not in self._names:
            name = self._names[hint] = self._free_name(hint.__name__)
            self.defs[name] = {}  # taken, for what the type contains
            shape = build()
            self.defs[name], self._reads[hint] = shape.schema, shape.read
        # The read is looked up late: inside a type that contains itself it is not there yet.
        return Shape({"$ref": f"#/$defs/{self._names[hint]}"}, lambda value: self._reads[hint](value))

    def _free_name(self, wanted: str) -> str:
        name, number = wanted, 2
        while name in self.defs:
            name, number = f"{wanted}{number}", number + 1
        return name


def _choice(options: list[tuple[Any, Any]]) -> Shape:
    for value, _ in options:
        if not isinstance(value, (str, int, float, bool, _NONE)):
            raise ToolDefinitionError(f"the choice {value!r} has no JSON form")

    def read(value: Any) -> Any:
        for wire, meant in options:
            # `True == 1` in Python, and not in JSON.
            if wire == value and isinstance(wire, bool) == isinstance(value, bool):
                return meant
        raise ArgumentError(f"expected one of {', '.join(repr(wire) for wire, _ in options)}, not {value!r:.80}")

    return Shape({"enum": [wire for wire, _ in options]}, read)


def _inside(where: str, read: Read, value: Any) -> Any:
    try:
        return read(value)
    except ArgumentError as error:
        raise ArgumentError(error.problem, where + error.where) from error


def _is_key_wrapper(origin: Any) -> bool:
    # `typing_extensions` brings these to Python 3.10; it need not be installed to know their names.
    return str(origin).rpartition(".")[2] in ("Required", "NotRequired", "ReadOnly")


def _point(schema: Any, renamed: dict[str, str]) -> Any:
    """Rewrites references to names under `$defs`."""
    if isinstance(schema, list):
        return [_point(item, renamed) for item in schema]
    if not isinstance(schema, dict):
        return schema
    pointed = {key: _point(value, renamed) for key, value in schema.items()}
    reference = schema.get("$ref")
    if isinstance(reference, str):
        name = reference.removeprefix("#/$defs/")
        pointed["$ref"] = f"#/$defs/{renamed.get(name, name)}"
    return pointed


def _unknown(hint: Any) -> ToolDefinitionError:
    shown = getattr(hint, "__name__", None) or str(hint)
    extra = "; bytes can travel as base64 in a `str`" if hint in (bytes, bytearray) else ""
    return ToolDefinitionError(
        f"the type hint `{shown}` has no JSON form",
        hint=f"use str, int, float, bool, list, dict, dataclasses, TypedDict, Enum, Literal or pydantic models{extra}",
    )
