"""Values on their way into a statement: each is written as a literal that ends where it is meant to.

The driver has no parameters that the server binds. A text is therefore written as its bytes in hexadecimal, in which no
character can mean anything, and a number as its digits.
"""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from evidence import exact_json
from evidence.errors import Refused

LONGEST_NUMBER = 65  # digits that a DECIMAL has at most


def literal(value: Any, format: str = "") -> str:
    """The literal of a JSON value; a `format` of date-time makes a text a moment in UTC.

    Raises Refused when the value cannot be written.
    """
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | Decimal):
        return _number(value)
    if isinstance(value, str):
        return _text(_moment(value) if format == "date-time" else value)
    return _text(exact_json.dumps(value))


def _number(value: int | Decimal) -> str:
    exact = Decimal(value)
    if max(len(exact.as_tuple().digits), abs(exact.adjusted())) > LONGEST_NUMBER:
        raise Refused("parameters", f"A number has more than {LONGEST_NUMBER} digits; a database keeps no such number.")
    digits = f"{exact:f}"
    # A minus sign before it must not meet its own and begin a comment.
    return f"({digits})" if digits.startswith("-") else digits


def _text(value: str) -> str:
    try:
        return f"_utf8mb4 X'{value.encode().hex()}'"
    except UnicodeEncodeError as error:  # half of a surrogate pair
        raise Refused("parameters", "A value holds a character that no text in a database can.") from error


def _moment(value: str) -> str:
    """A moment as the session's zone, UTC, writes it: MariaDB would drop an offset without a word."""
    try:
        moment = datetime.fromisoformat(value)
    except ValueError as error:
        raise Refused("parameters", "A value is no moment like 2026-01-02T03:04:05Z.") from error
    if moment.tzinfo is None:
        raise Refused("parameters", "A moment says its offset, like 2026-01-02T03:04:05Z.")
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(sep=" ")
