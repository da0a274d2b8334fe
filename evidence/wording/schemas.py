"""The words of a JSON Schema with their places: what it calls its properties, says in prose, and promises as values.

Pure. The keywords are those of draft 2020-12.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

PROSE = ("title", "description", "$comment")
VALUES = ("const", "enum", "default", "examples")
NAMES = ("required", "dependentRequired")  # they hold names of properties in lists
NAMED = ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions")  # their keys are names
ESCAPED = re.compile(r"\\[pPk]\{[^}]*\}|\\.|\(\?[a-zA-Z:=!<]+|\[(?:\\.|[^\]\\])*\]|\{[0-9,]*\}", re.S)
LITERAL = re.compile(r"[^\W\d][\w -]+")


@dataclass(frozen=True)
class Said:
    """A word or sentence of a schema. `field` is the property that it is about, and `schema` what stands for that."""

    kind: Literal["name", "prose", "value"]
    place: str
    text: str
    field: str = ""
    schema: Any = None


def said(schema: Any, place: str, field: str = "") -> Iterator[Said]:
    """Everything that a schema says, from the outside in."""
    if isinstance(schema, list):
        for number, part in enumerate(schema):
            yield from said(part, f"{place}/{number}", field)
    if not isinstance(schema, dict):
        return
    for key, value in schema.items():
        where = f"{place}/{escaped(key)}"
        if key in PROSE and isinstance(value, str):
            yield Said("prose", where, value, field)
        elif key in VALUES:
            yield from _values(value, where, field)
        elif key == "pattern" and isinstance(value, str):
            yield from (Said("value", where, word, field) for word in _literals(value))
        elif key in NAMED:
            yield from _named(key, value, where, field)
        elif key in NAMES:
            described = schema.get("properties")
            yield from (one for one in _required(value, where) if one.text not in (described or ()))
        elif key == "propertyNames":
            yield from (Said("name", one.place, one.text) for one in said(value, where) if one.kind != "prose")
        else:
            yield from said(value, where, field)


def _named(keyword: str, value: Any, place: str, field: str) -> Iterator[Said]:
    """Schemas below names. Those of `$defs` are on no answer, and what refers to them may be any property."""
    for name, schema in value.items() if isinstance(value, dict) else ():
        where = f"{place}/{escaped(name)}"
        if keyword == "properties":
            yield Said("name", where, name, name, schema)
        elif keyword == "patternProperties":
            yield from (Said("name", where, word, word, schema) for word in _literals(name))
        yield from said(schema, where, name if keyword == "properties" else field)


def _required(value: Any, place: str) -> Iterator[Said]:
    """Names that must stand in an answer, whether or not a property describes them."""
    if isinstance(value, dict):
        for name, others in value.items():
            yield from _required([name, *(others if isinstance(others, list) else ())], f"{place}/{escaped(name)}")
    elif isinstance(value, list):
        yield from (Said("name", place, name, name) for name in value if isinstance(name, str))


def _values(value: Any, place: str, field: str) -> Iterator[Said]:
    """The texts in a value, and the names of fields in one that is an object."""
    if isinstance(value, str):
        yield Said("value", place, value, field)
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from _values(part, f"{place}/{number}", field)
    elif isinstance(value, dict):
        for name, part in value.items():
            where = f"{place}/{escaped(name)}"
            yield Said("name", where, name, name, {"type": "string"} if isinstance(part, str) else {})
            yield from _values(part, where, name)


def _literals(pattern: str) -> Iterator[str]:
    """The words that a pattern spells out: ^(pass|fail)$ is a list of values as well."""
    for found in LITERAL.finditer(ESCAPED.sub("|", pattern)):
        yield found[0]


def escaped(name: str) -> str:
    """A name as a part of a JSON pointer (RFC 6901)."""
    return name.replace("~", "~0").replace("/", "~1")
