"""The closed table of units: what a number is a number of. Unlike units are never added.

Money is a dimension for each currency, for no exchange rate is a unit. `ratio` and `percent` are different units of one
dimension: they are converted when somebody asks, and never mixed. Factors: the SI brochure (9th edition, table 8) and
IEC 80000-13 for bytes, ISO 4217 for the minor units of currencies. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

# The digits of a currency's minor unit.
CURRENCIES = {
    "EUR": 2, "USD": 2, "GBP": 2, "CHF": 2, "SEK": 2, "NOK": 2, "DKK": 2, "PLN": 2, "CZK": 2, "CAD": 2, "AUD": 2,
    "NZD": 2, "INR": 2, "BRL": 2, "MXN": 2, "ZAR": 2, "CNY": 2, "JPY": 0, "KRW": 0, "KWD": 3,
}  # fmt: skip
COUNTED = ("count", "calls", "requests", "attempts", "jobs", "errors", "rows", "people")
OTHERS = {
    "time": {"us": "1/1000000", "ms": "1/1000", "s": "1", "min": "60", "h": "3600", "d": "86400"},
    # A slot that is held for a second; the other quantities that a second is multiplied with are not counted yet.
    "slot time": {"slot_s": "1", "slot_min": "60", "slot_h": "3600"},
    "data": {"byte": "1", "kB": "1000", "MB": "1000000", "GB": "1000000000", "KiB": "1024", "MiB": "1048576"},
    "share": {"ratio": "1", "percent": "1/100", "times": "1"},
}


class UnlikeUnits(ValueError):
    """Two units that cannot be added, compared or converted; the message is one sentence."""


@dataclass(frozen=True)
class Unit:
    """A unit of the table: its dimension, and how many of the dimension's base unit one of it is."""

    name: str
    dimension: str
    factor: Fraction


def _table() -> Iterable[Unit]:
    for currency, digits in CURRENCIES.items():
        yield Unit(currency, f"money in {currency}", Fraction(1))
        yield Unit(f"{currency}_minor", f"money in {currency}", Fraction(1, 10**digits))
    for dimension, units in OTHERS.items():
        yield from (Unit(name, dimension, Fraction(factor)) for name, factor in units.items())
    # Things that are counted do not add up with other things: five errors and two jobs are not seven.
    yield from (Unit(name, f"number of {name}", Fraction(1)) for name in COUNTED)


UNITS = {unit.name: unit for unit in _table()}


def unit(name: object) -> Unit:
    """The unit of this name. Raises ValueError for a name that the table does not have."""
    if not isinstance(name, str) or name not in UNITS:
        raise ValueError(f"{name!r} is not a unit of the table; the units are {', '.join(sorted(UNITS))}.")
    return UNITS[name]


@dataclass(frozen=True)
class Quantity:
    """So many of a unit."""

    amount: Fraction
    unit: Unit

    def __add__(self, other: Quantity) -> Quantity:
        """The sum. Raises UnlikeUnits unless both are in the same unit: converting is an act of its own."""
        if self.unit != other.unit:
            raise UnlikeUnits(f"{self.unit.name} and {other.unit.name} are different units and are not added.")
        return Quantity(self.amount + other.amount, self.unit)

    def to(self, wanted: Unit) -> Quantity:
        """The same quantity in another unit. Raises UnlikeUnits when the dimension is another."""
        if self.unit.dimension != wanted.dimension:
            raise UnlikeUnits(
                f"{self.unit.name} is {self.unit.dimension} and cannot be given in {wanted.name}, which is "
                f"{wanted.dimension}."
            )
        return Quantity(self.amount * self.unit.factor / wanted.factor, wanted)


def total(quantities: Iterable[Quantity], wanted: Unit) -> Quantity:
    """The sum, in the unit that all of them have; nothing of a unit is zero of it. Raises UnlikeUnits."""
    found = Quantity(Fraction(0), wanted)
    for quantity in quantities:
        found += quantity
    return found
