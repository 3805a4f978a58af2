"""What `Annotated` adds to a schema: descriptions, bounds, and pieces of JSON Schema."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

# The attributes by which `annotated_types` and pydantic's `Field` say it.
_BOUNDS = {
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
    "pattern": "pattern",
}
_LENGTHS = {"min_length": ("minLength", "minItems"), "max_length": ("maxLength", "maxItems")}


def apply_annotations(schema: dict[str, Any], annotations: Iterable[Any]) -> dict[str, Any]:
    """The schema with what the annotations say: a text is its description, a dict is JSON Schema to add."""
    result = dict(schema)
    for annotation in annotations:
        if isinstance(annotation, str):
            result["description"] = annotation
        elif isinstance(annotation, dict):
            result.update(annotation)
        else:
            _apply_object(result, annotation)
    return result


def _apply_object(schema: dict[str, Any], annotation: Any) -> None:
    for text in ("description", "documentation"):
        if isinstance(value := getattr(annotation, text, None), str):
            schema["description"] = value
    # pydantic keeps the bounds of a `Field` in a list of such objects.
    for part in [annotation, *(getattr(annotation, "metadata", None) or ())]:
        for attribute, keyword in _BOUNDS.items():
            if (value := getattr(part, attribute, None)) is not None and not callable(value):
                schema[keyword] = value
        for attribute, (of_text, of_array) in _LENGTHS.items():
            if isinstance(value := getattr(part, attribute, None), int):
                schema[of_array if schema.get("type") == "array" else of_text] = value
