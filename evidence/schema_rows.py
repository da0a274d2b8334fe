"""A JSON Schema as people read it: one row per field, with its type and what is promised of it, in words. Pure.

It shows the keywords that contracts use; a schema that says more is marked, and its JSON stands beside the rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import simplejson

DEEPEST = 12
LONGEST = 120  # characters of a list of values or of a pattern
# Keyword → how its value is said.
SAID = {
    "const": "is {}", "enum": "one of {}", "minimum": "at least {}", "maximum": "at most {}",
    "exclusiveMinimum": "more than {}", "exclusiveMaximum": "less than {}", "multipleOf": "a multiple of {}",
    "minLength": "length at least {}", "maxLength": "length at most {}", "pattern": "matches {}",
    "format": "a {}", "minItems": "items at least {}", "maxItems": "items at most {}", "uniqueItems": "no item twice",
    "minProperties": "fields at least {}", "maxProperties": "fields at most {}", "default": "without it {}",
}  # fmt: skip
SHOWN = {
    *SAID, "type", "title", "description", "properties", "items", "required", "additionalProperties", "anyOf", "oneOf",
}  # fmt: skip
CHOICES = ("anyOf", "oneOf")


@dataclass(frozen=True)
class Row:
    """One field: where it stands, what type it has, whether it must be there, and what else is promised of it."""

    path: str  # job.state; attempts[].error
    types: str
    is_required: bool
    promises: str
    says_more: bool  # than a row can show


def rows(schema: Any) -> list[Row]:
    """The fields of a schema, each before those inside it."""
    return list(_inside(schema, "", 0))


def is_closed(schema: Any) -> bool:
    """Whether no other fields than the listed ones may be there."""
    return isinstance(schema, Mapping) and schema.get("additionalProperties") is False


def _inside(schema: Any, path: str, depth: int) -> Iterator[Row]:
    if not isinstance(schema, Mapping) or depth > DEEPEST:
        return
    properties = schema.get("properties")
    for name, child in properties.items() if isinstance(properties, Mapping) else ():
        yield from _field(child, f"{path}.{name}" if path else name, name in _required(schema), depth)
    if isinstance(schema.get("items"), Mapping):
        yield from _inside(schema["items"], f"{path}[]", depth + 1)
    for choice in _choices(schema):
        yield from _inside(choice, path, depth + 1)


def _field(schema: Any, path: str, is_required: bool, depth: int) -> Iterator[Row]:
    yield Row(path, types(schema), is_required, ", ".join(_promises(schema)), _says_more(schema))
    yield from _inside(schema, path, depth + 1)


def _required(schema: Mapping[str, Any]) -> list[Any]:
    found = schema.get("required")
    return found if isinstance(found, list) else []


def _choices(schema: Mapping[str, Any]) -> list[Any]:
    return [one for key in CHOICES for one in (schema[key] if isinstance(schema.get(key), list) else ())]


def types(schema: Any) -> str:
    """The types of a schema in words: "integer or null", "list of string", "anything"."""
    if not isinstance(schema, Mapping):
        return "anything" if schema is True else "nothing" if schema is False else "?"
    stated = schema.get("type")
    named = [stated] if isinstance(stated, str) else stated if isinstance(stated, list) else []
    words = [_list_of(schema) if one == "array" else str(one) for one in named]
    words += [types(one) for one in _choices(schema)] if not words else []
    return " or ".join(dict.fromkeys(words)) or _by_value(schema)


def _list_of(schema: Mapping[str, Any]) -> str:
    return f"list of {types(schema['items'])}" if "items" in schema else "list"


def _by_value(schema: Mapping[str, Any]) -> str:
    if "enum" in schema or "const" in schema:
        return "value"
    return "see below" if "$ref" in schema else "anything"


def _promises(schema: Any) -> Iterator[str]:
    if not isinstance(schema, Mapping):
        return
    yield from (str(schema[key]) for key in ("title", "description") if schema.get(key))
    for key, words in SAID.items():
        if key in schema and schema[key] is not False:
            yield words.format(_value(schema[key]))
    items = schema.get("items")
    if isinstance(items, Mapping) and "properties" not in items:
        yield from (f"each {promise}" for promise in _promises(items))


def _value(value: Any) -> str:
    if isinstance(value, list):
        text = ", ".join(map(_value, value))
    else:
        text = value if isinstance(value, str) else simplejson.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _says_more(schema: Any) -> bool:
    return isinstance(schema, Mapping) and not set(schema) <= SHOWN
