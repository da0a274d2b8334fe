"""Exact sums of many rows at once: what is linear is added up first and converted once, by columns and not by cells.

Nothing is read less strictly for that. A column in which any value is not plainly what it should be has no sum here,
and the rows are then read one by one, which finds the value and says where it is. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal, Inexact, InvalidOperation, Rounded, localcontext
from fractions import Fraction
from math import lcm
from operator import itemgetter
from typing import Any

from evidence.metrics.exact import LIMIT, MOST_DIGITS

Rows = Sequence[Mapping[str, object]]
# Wide enough for numbers of MOST_DIGITS on both sides of the point, however many; it raises rather than rounds.
EXACT = Context(prec=4 * MOST_DIGITS, traps=[Inexact, Rounded, InvalidOperation])
NUMBERS: frozenset[type] = frozenset({int, Decimal})
TEXTS: frozenset[type] = frozenset({str, int})
KEYS: frozenset[type] = frozenset({str, int, type(None)})


@dataclass(frozen=True)
class Numbers:
    """A column of exact numbers, of which none has more places than `scale` has zeros."""

    values: list[Any]
    scale: int

    def by(self, keys: Iterable[Any]) -> Mapping[Any, int]:
        """The sum of each key's values in units of 1 / scale, in the order in which the keys come."""
        found: dict[Any, Any] = {}
        with localcontext(EXACT):
            for key, value in zip(keys, self.values, strict=True):
                found[key] = found.get(key, 0) + value
            return {key: int(value * self.scale) for key, value in found.items()}


def total(numbers: Iterable[Fraction]) -> Fraction:
    """The sum, over one common denominator: adding one by one would reduce each time."""
    given = list(numbers)
    if len(given) == 1:
        return given[0]
    found = [number.as_integer_ratio() for number in given]
    whole = lcm(*{denominator for _, denominator in found})
    return Fraction(sum(numerator * (whole // denominator) for numerator, denominator in found), whole)


def column(rows: Rows, name: str, types: frozenset[type]) -> list[Any] | None:
    """The values of a column, or None unless each is there, of one of these types, and no empty text."""
    try:
        values = list(map(itemgetter(name), rows))
    except KeyError:
        return None
    return values if types.issuperset(map(type, values)) and "" not in values else None


def numbers(rows: Rows, name: str) -> Numbers | None:
    """The numbers of a column, or None unless `exact` takes each as it stands."""
    values = column(rows, name, NUMBERS)
    if values is None:
        return None
    try:
        with localcontext(EXACT):
            size = sum(map(abs, values))
            is_small = size < LIMIT  # all together, so each; else they are looked at one by one
    except ArithmeticError:
        return None  # one of them is no finite number
    if not is_small:
        return None
    places = 0 if isinstance(size, int) else max(-int(size.as_tuple().exponent), 0)
    return Numbers(values, 10**places) if places <= MOST_DIGITS else None
