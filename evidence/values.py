"""Values on their way into and out of a read: parameters for PostgreSQL, and rows from its JSON."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

import simplejson
from psycopg.types.json import Jsonb
from psycopg.types.numeric import Int4, Int8

from evidence.errors import Refused

LONGEST_INTEGER = 4_000  # digits; Python refuses to read longer ones
SCALARS = (str, bool, int, float, Decimal, datetime, date, time, UUID, bytes)


def parameters(given: Sequence[Any]) -> list[Any]:
    """The values as psycopg adapts them: an integer gets the type that PostgreSQL gives the same literal."""
    return [_parameter(value) for value in given]


def _parameter(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        return _integer(value)
    if isinstance(value, dict):
        return Jsonb(value, dumps=_json)
    if isinstance(value, list | tuple):
        return _array(list(value))
    return value


def _integer(value: int) -> Any:
    if -(2**31) <= value < 2**31:
        return Int4(value)
    return Int8(value) if -(2**63) <= value < 2**63 else Decimal(value)


def _array(items: list[Any]) -> Any:
    """An array when the items are of one simple type, else JSON."""
    kinds = {type(item) for item in items if item is not None}
    if kinds == {int}:
        return _integers(items)
    if len(kinds) <= 1 and all(issubclass(kind, SCALARS) for kind in kinds):
        return items
    return Jsonb(items, dumps=_json)


def _integers(items: list[int | None]) -> list[Any]:
    """Integers of one type: the widest that any of them needs."""
    numbers = [item for item in items if item is not None]
    widest = type(_integer(max(numbers, key=abs)))
    return [None if item is None else widest(item) for item in items]


def _json(value: Any) -> str:
    return simplejson.dumps(value, use_decimal=True, allow_nan=False)


def row(text: str) -> dict[str, Any]:
    """A row of row_to_json: integers stay integers, every number with a point or exponent is a Decimal.

    Raises Refused when it nests too deeply to be read.
    """
    try:
        found: dict[str, Any] = simplejson.loads(text, use_decimal=True, parse_int=_read_integer)
    except (RecursionError, ValueError) as error:
        raise Refused("unreadable", "The result holds JSON that cannot be read back, so it is kept out.") from error
    return found


def _read_integer(digits: str) -> int | Decimal:
    return int(digits) if len(digits) <= LONGEST_INTEGER else Decimal(digits)
