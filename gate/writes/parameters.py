"""Parameters of a write: typed strings, checked against their type, bound under exactly that type.

A value stays the text that people saw; no JSON number, and so no rounding, lies between the page and the database.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from uuid import UUID

from gate.writes.characters import hidden
from gate.writes.errors import Unfit

MOST_PARAMETERS = 100
LONGEST_VALUE = 10_000
LONGEST_JSON = 200_000  # an undo carries its rows in one


@dataclass(frozen=True)
class Parameter:
    """One `$n`: a PostgreSQL type and a value as text, or null."""

    t: str
    v: str | None


@dataclass(frozen=True)
class Type:
    """A type that parameters may have: its OID, what its values look like, and the test for them."""

    oid: int
    looks_like: str
    accepts: Callable[[str], bool]
    longest: int = LONGEST_VALUE  # characters


def _integer(bits: int) -> Callable[[str], bool]:
    def accepts(value: str) -> bool:
        is_plain = re.fullmatch(r"-?(0|[1-9][0-9]{0,18})", value) is not None
        return is_plain and -(2 ** (bits - 1)) <= int(value) < 2 ** (bits - 1)

    return accepts


def _pattern(pattern: str) -> Callable[[str], bool]:
    return lambda value: re.fullmatch(pattern, value) is not None


def _parses(parse: Callable[[str], object], pattern: str = ".*") -> Callable[[str], bool]:
    def accepts(value: str) -> bool:
        try:
            parse(value)
        except (ValueError, RecursionError):
            return False
        return re.fullmatch(pattern, value, re.DOTALL) is not None

    return accepts


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


# A moment without an offset would mean another moment in another session.
MOMENT = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)"

TYPES = {
    "bigint": Type(20, "a whole number of 64 bits", _integer(64)),
    "integer": Type(23, "a whole number of 32 bits", _integer(32)),
    "numeric": Type(1700, "a decimal number like 250.00", _pattern(r"-?(0|[1-9][0-9]{0,99})(\.[0-9]{1,99})?")),
    "text": Type(25, "text", lambda value: True),
    "boolean": Type(16, "true or false", _pattern("true|false")),
    "timestamptz": Type(
        1184, "a moment with its offset like 2026-11-29T10:35:00Z", _parses(datetime.fromisoformat, MOMENT)
    ),
    "date": Type(1082, "a date like 2026-11-29", _parses(date.fromisoformat, r"\d{4}-\d\d-\d\d")),
    "uuid": Type(2950, "a UUID in lower case", lambda value: _parses(UUID)(value) and str(UUID(value)) == value),
    "jsonb": Type(
        3802, "JSON", _parses(lambda value: json.loads(value, parse_constant=_refuse_constant)), LONGEST_JSON
    ),
}  # fmt: skip


def read(given: Any) -> list[Parameter]:
    """The parameters of a proposal, each `{"t": type, "v": text or null}`. Raises Unfit for the first that is not."""
    if not isinstance(given, Sequence) or isinstance(given, str) or len(given) > MOST_PARAMETERS:
        raise Unfit(f"Parameters are a list of at most {MOST_PARAMETERS}.")
    return [_read_one(number, one) for number, one in enumerate(given, 1)]


def _read_one(number: int, given: Any) -> Parameter:
    if not isinstance(given, dict) or set(given) != {"t", "v"}:
        raise Unfit(f'Parameter ${number} must be {{"t": type, "v": text or null}} and nothing else.')
    name, value = given["t"], given["v"]
    if not isinstance(name, str) or name not in TYPES:
        raise Unfit(f"Parameter ${number} has no type that is known here; choose from {', '.join(TYPES)}.")
    if value is not None:
        _check_value(number, name, value)
    return Parameter(name, value)


def _check_value(number: int, name: str, value: Any) -> None:
    if not isinstance(value, str):
        raise Unfit(f'Parameter ${number} must be text, like "250.00": a JSON number may be rounded on its way.')
    if len(value) > TYPES[name].longest:
        raise Unfit(f"Parameter ${number} is longer than {TYPES[name].longest:,} characters.")
    if code := hidden(value):
        raise Unfit(f"Parameter ${number} holds the character {code}, which a reader would not see.")
    if not TYPES[name].accepts(value):
        raise Unfit(f"Parameter ${number} is not {TYPES[name].looks_like}, so it is no {name}.")


def as_json(parameters: Sequence[Parameter]) -> list[dict[str, str | None]]:
    """The parameters as they are stored and shown."""
    return [{"t": one.t, "v": one.v} for one in parameters]
