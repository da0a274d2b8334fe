"""A program's canonical JSON, and the digest over it that is its name.

RFC 8785 whole, for a program holds thresholds: `audit.canonical` writes the part of it without fractions.
"""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any

from audit.canonical import LARGEST_INTEGER


def text(value: Any) -> str:
    """Canonical JSON. Raises ValueError for what has none: NaN, an integer beyond 2^53 - 1, half a surrogate pair."""
    match value:
        case dict():
            # RFC 8785 sorts by UTF-16 code units.
            members = sorted(value.items(), key=lambda member: _key(member[0]))
            return "{" + ",".join(f"{text(name)}:{text(one)}" for name, one in members) + "}"
        case list() | tuple():
            return "[" + ",".join(text(one) for one in value) + "]"
        case bool() | None | str():
            written = json.dumps(value, ensure_ascii=False)
            written.encode()  # raises for half a surrogate pair, which has no UTF-8 form
            return written
        case int() | float():
            return number_text(value)
    raise ValueError(f"A {type(value).__name__} is no JSON.")


def _key(name: Any) -> bytes:
    if not isinstance(name, str):
        raise ValueError("A key of JSON is text.")
    return name.encode("utf-16-be")


def digest(program: Any) -> str:
    """SHA-256 (hex) over the canonical JSON: a policy's name. Raises ValueError."""
    return hashlib.sha256(text(program).encode()).hexdigest()


def number_text(number: float) -> str:
    """A number as ECMAScript prints it (RFC 8785 3.2.2.3). Raises ValueError for NaN, infinity and large integers."""
    if isinstance(number, int):
        if abs(number) > LARGEST_INTEGER:
            raise ValueError("An integer beyond 2^53 - 1 has no canonical form.")
        return str(number)
    if not math.isfinite(number):
        raise ValueError("NaN and infinity are no JSON numbers.")
    if number == 0:
        return "0"
    sign = "-" if number < 0 else ""
    # repr gives the shortest digits that read back as the same number, as ECMAScript does; the layout differs.
    digits, _, exponent = f"{abs(number)!r}".partition("e")
    whole, _, fraction = digits.partition(".")
    fraction = fraction.rstrip("0")
    point = len(whole) + int(exponent or 0)
    digits = whole + fraction
    leading = len(digits) - len(digits.lstrip("0"))
    return sign + _laid_out(digits.lstrip("0").rstrip("0"), point - leading)


def _laid_out(digits: str, point: int) -> str:
    """Digits with the point before the digit of this number, by the steps of ECMAScript's Number::toString."""
    if len(digits) <= point <= 21:
        return digits.ljust(point, "0")
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"0.{'0' * -point}{digits}"
    mantissa = digits[0] + (f".{digits[1:]}" if len(digits) > 1 else "")
    return f"{mantissa}e{'+' if point > 0 else '-'}{abs(point - 1)}"
