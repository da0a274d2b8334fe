"""Numbers of an answer as pages show them: exact, null as not known, and shares of a whole worked out here. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from evidence.metrics.exact import exact, shown


@dataclass(frozen=True)
class Amount:
    """A number as it is shown, and what it is exactly where it had to be cut."""

    text: str
    number: Fraction
    exactly: str = ""  # "347/15"

    @property
    def is_negative(self) -> bool:
        return self.number < 0


def of(document: Mapping[str, Any], key: str) -> Amount | None:
    """The number under a key of an answer; None where it is not known. Raises ValueError for what is no number."""
    value = document[key]
    if value is None:
        return None
    fraction = document.get(f"{key}_exact")
    if fraction is None:
        return made(exact(value))
    return Amount(_grouped(Decimal(value)), Fraction(fraction), fraction)


def made(number: Fraction) -> Amount:
    """A number that was worked out here."""
    found = shown(number)
    return Amount(_grouped(found.value), number, found.fraction or "")


def _grouped(value: Decimal) -> str:
    return f"{value:,f}".replace("-", "−")


def difference(later: Amount | None, earlier: Amount | None) -> Amount | None:
    """The later less the earlier; None where one of them is not known."""
    return None if later is None or earlier is None else made(later.number - earlier.number)


def signed(amount: Amount) -> str:
    """A difference with its sign."""
    return f"+{amount.text}" if amount.number > 0 else amount.text


def share(part: Fraction, parts: list[Fraction]) -> str:
    """What a part is of the sum of all, in percent to one place; empty where that says nothing.

    It says nothing of parts that take away from each other: they would be more than the whole.
    """
    whole = sum(parts, Fraction(0))
    if not whole or (min(parts) < 0 < max(parts)):
        return ""
    tenths = round(part / whole * 1000)
    return f"{tenths // 10}.{tenths % 10} %"
