"""Hints become schemas, and JSON becomes what the hints promise."""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import uuid
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NamedTuple, NewType, Optional, TypedDict, Union

import pydantic
import pytest
from typing_extensions import NotRequired

from isolith import ToolDefinitionError
from isolith.scalars import ArgumentError
from isolith.shapes import Shapes


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Point:
    x: float
    y: float = 0.0


@dataclass
class Tree:
    name: str
    children: list[Tree] = field(default_factory=list)


class Movie(TypedDict):
    title: str
    year: NotRequired[int]


class Pair(NamedTuple):
    left: int
    right: str


class Address(pydantic.BaseModel):
    street: str


class Person(pydantic.BaseModel):
    name: str = pydantic.Field(min_length=1)
    address: Address | None = None


UserId = NewType("UserId", int)
NOON = dt.datetime(2026, 1, 2, 12, 0, tzinfo=dt.timezone.utc)
SOME_ID = uuid.UUID("12345678-1234-5678-1234-567812345678")


@pytest.mark.parametrize(
    ("hint", "schema", "given", "read"),
    [
        (str, {"type": "string"}, "a", "a"),
        (int, {"type": "integer"}, 3.0, 3),
        (float, {"type": "number"}, 3, 3.0),
        (bool, {"type": "boolean"}, True, True),
        (None, {"type": "null"}, None, None),
        (Any, {}, {"a": [1]}, {"a": [1]}),
        (UserId, {"type": "integer"}, 7, 7),
        (list[int], {"type": "array", "items": {"type": "integer"}}, [1, 2], [1, 2]),
        (list, {"type": "array", "items": {}}, [1, "a"], [1, "a"]),
        (set[str], {"type": "array", "items": {"type": "string"}, "uniqueItems": True}, ["a"], {"a"}),
        (tuple[int, ...], {"type": "array", "items": {"type": "integer"}}, [1, 2], (1, 2)),
        (
            tuple[int, str],
            {
                "type": "array",
                "prefixItems": [{"type": "integer"}, {"type": "string"}],
                "minItems": 2,
                "maxItems": 2,
            },
            [1, "a"],
            (1, "a"),
        ),
        (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}, {"a": 1}, {"a": 1}),
        (Optional[int], {"anyOf": [{"type": "integer"}, {"type": "null"}]}, None, None),  # noqa: UP045
        (Union[int, str], {"anyOf": [{"type": "integer"}, {"type": "string"}]}, "5", "5"),  # noqa: UP007
        (int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}, 4, 4),
        (Literal["a", 1, None], {"enum": ["a", 1, None]}, 1, 1),
        (Colour, {"enum": ["red", "blue"]}, "blue", Colour.BLUE),
        (dt.datetime, {"type": "string", "format": "date-time"}, "2026-01-02T12:00:00.000Z", NOON),
        (dt.date, {"type": "string", "format": "date"}, "2026-01-02", dt.date(2026, 1, 2)),
        (uuid.UUID, {"type": "string", "format": "uuid"}, str(SOME_ID), SOME_ID),
        (decimal.Decimal, {"type": ["string", "number"]}, "0.10", decimal.Decimal("0.10")),
        (Annotated[int, "how many"], {"type": "integer", "description": "how many"}, 1, 1),
        (
            Annotated[int, pydantic.Field(ge=1, description="at least one")],
            {"type": "integer", "minimum": 1, "description": "at least one"},
            1,
            1,
        ),
        (Annotated[str, pydantic.Field(max_length=5)], {"type": "string", "maxLength": 5}, "a", "a"),
        (Annotated[str, {"pattern": "^a"}], {"type": "string", "pattern": "^a"}, "a", "a"),
    ],
)
def test_a_hint_is_a_schema_and_a_way_to_read(hint: Any, schema: Any, given: Any, read: Any) -> None:
    shapes = Shapes()
    shape = shapes.of(hint)
    assert shapes.wrap(shape.schema) == schema
    assert shape.read(given) == read
    assert type(shape.read(given)) is type(read)


def test_dataclasses_have_names_and_may_contain_themselves() -> None:
    shapes = Shapes()
    shape = shapes.of(Tree)
    assert shapes.wrap(shape.schema) == {
        "$ref": "#/$defs/Tree",
        "$defs": {
            "Tree": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "children": {"type": "array", "items": {"$ref": "#/$defs/Tree"}},
                },
                "additionalProperties": False,
                "required": ["name"],
            }
        },
    }
    assert shape.read({"name": "a", "children": [{"name": "b"}]}) == Tree("a", [Tree("b")])


def test_typed_dicts_and_named_tuples() -> None:
    shapes = Shapes()
    movie = shapes.of(Movie)
    assert shapes.defs["Movie"]["required"] == ["title"]
    assert movie.read({"title": "Alien"}) == {"title": "Alien"}
    assert Shapes().of(Pair).read([1, "a"]) == Pair(1, "a")


def test_pydantic_models_keep_their_own_rules() -> None:
    shapes = Shapes()
    shape = shapes.of(list[Person])
    assert sorted(shapes.defs) == ["Address", "Person"]
    assert shapes.defs["Person"]["properties"]["address"]["anyOf"][0] == {"$ref": "#/$defs/Address"}
    [person] = shape.read([{"name": "Ada", "address": {"street": "Main"}}])
    assert person == Person(name="Ada", address=Address(street="Main"))
    with pytest.raises(ArgumentError, match="at least 1 character"):
        shape.read([{"name": ""}])


@pytest.mark.parametrize(
    ("hint", "given", "message"),
    [
        (int, "1", "expected an integer, not a string"),
        (int, True, "expected an integer, not a boolean"),
        (float, None, "expected a number, not null"),
        (list[int], [1, "a"], "`[1]`: expected an integer, not a string"),
        (dict[str, Point], {"p": {"x": "a"}}, "`p.x`: expected a number, not a string"),
        (Point, {"z": 1}, "there is no `z` here, only 'x', 'y'"),
        (Point, {}, "`x` is missing"),
        (Colour, "green", "expected one of 'red', 'blue', not 'green'"),
        (Literal[1], True, "expected one of 1, not True"),
        (dt.date, "tomorrow", "expected a date (ISO 8601), not 'tomorrow'"),
        (tuple[int, int], [1], "expected 2 items, not 1"),
        (int | str, [], "expected an integer, not an array, and expected a string, not an array"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(hint: Any, given: Any, message: str) -> None:
    with pytest.raises(ArgumentError) as refused:
        Shapes().of(hint).read(given)
    assert str(refused.value) == message


@pytest.mark.parametrize("hint", [bytes, complex, dict[int, str], type, Literal[b"a"]])
def test_hints_without_a_json_form_are_refused_at_once(hint: Any) -> None:
    with pytest.raises(ToolDefinitionError):
        Shapes().of(hint)
