"""JSON that somebody else wrote, read so that it means one thing or nothing."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

LONGEST_INTEGER = 400  # digits; Python refuses to read thousands, and a float of that size is infinite


class Unreadable(ValueError):
    """It is no JSON, or it says two things under one name. The sentence says which."""


def read(text: str | bytes, *, is_finite: bool = False) -> Any:
    """The value that JSON text holds. NaN and infinities are read, for a decision to say that they are no answers.

    With `is_finite` they are not read: where the value is kept, JSON cannot hold them. Raises Unreadable.
    """
    try:
        plain = text.decode("utf-8") if isinstance(text, bytes) else text
        if is_finite:
            return json.loads(plain, object_pairs_hook=_object, parse_float=_finite, parse_constant=_refuse)
        return json.loads(plain, object_pairs_hook=_object, parse_int=_integer)
    except RecursionError as error:
        raise Unreadable("It is nested too deeply to be read.") from error
    except UnicodeDecodeError as error:
        raise Unreadable("It is not UTF-8.") from error
    except Unreadable:
        raise
    except ValueError as error:
        raise Unreadable(f"It is not JSON: {error}.") from error


def _object(members: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(members)
    if len(found) < len(members):
        # Which of the two counts would depend on who reads it.
        raise Unreadable("An object holds the same name twice.")
    return found


def _finite(digits: str) -> float:
    found = float(digits)
    return found if math.isfinite(found) else _refuse(digits)


def _refuse(constant: str) -> NoReturn:
    raise Unreadable(f"It holds {constant[:20]}, which is no number of JSON.")


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) < LONGEST_INTEGER else float(digits)
