"""Values on their way out: from the server's own text to JSON types, by the type that the column has.

Numbers keep their digits. A TIMESTAMP is a moment, and the session's zone is UTC, so it is said with its offset; a
DATETIME has no zone, and gets an offset only where the source says that all of them are in UTC. Bytes never pass for
text.
"""

from __future__ import annotations

import base64
from decimal import Decimal
from typing import Any

from pymysql.constants import FIELD_TYPE

from evidence.errors import Refused

INTEGERS = frozenset((FIELD_TYPE.TINY, FIELD_TYPE.SHORT, FIELD_TYPE.LONG, FIELD_TYPE.INT24, FIELD_TYPE.LONGLONG,
                      FIELD_TYPE.YEAR))  # fmt: skip
NUMBERS = frozenset((FIELD_TYPE.DECIMAL, FIELD_TYPE.NEWDECIMAL, FIELD_TYPE.FLOAT, FIELD_TYPE.DOUBLE))
TEXTS = frozenset((FIELD_TYPE.VARCHAR, FIELD_TYPE.VAR_STRING, FIELD_TYPE.STRING, FIELD_TYPE.ENUM, FIELD_TYPE.SET,
                   FIELD_TYPE.TINY_BLOB, FIELD_TYPE.MEDIUM_BLOB, FIELD_TYPE.LONG_BLOB, FIELD_TYPE.BLOB,
                   FIELD_TYPE.JSON))  # fmt: skip
BINARY = 63  # the character set of what is no text
UTC = "+00:00"


def decoded(raw: bytes | None, type_code: int, charset: int, is_utc: bool) -> Any:
    """The JSON value of a column's raw value. Raises Refused for a text that is not UTF-8."""
    if raw is None:
        return None
    if type_code in INTEGERS:
        return int(raw)
    if type_code in NUMBERS:
        return Decimal(raw.decode("ascii"))
    if type_code == FIELD_TYPE.BIT:
        return int.from_bytes(raw, "big")
    if type_code in (FIELD_TYPE.DATE, FIELD_TYPE.NEWDATE, FIELD_TYPE.TIME):
        return raw.decode("ascii")
    if type_code in (FIELD_TYPE.TIMESTAMP, FIELD_TYPE.DATETIME):
        return _moment(raw.decode("ascii"), is_utc or type_code == FIELD_TYPE.TIMESTAMP)
    # A JSON value comes in the character set of what is no text, and is text all the same.
    if type_code == FIELD_TYPE.JSON or (type_code in TEXTS and charset != BINARY):
        return _text(raw)
    return {"base64": base64.b64encode(raw).decode("ascii")}


def _moment(text: str, is_utc: bool) -> str:
    """ISO 8601. The zero date, which is none, stays recognizable as that: no reader takes it for a moment."""
    return text.replace(" ", "T") + (UTC if is_utc and not text.startswith("0000") else "")


def _text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise Refused("unreadable", "A text of the result is not UTF-8, so the result is kept out.") from error
