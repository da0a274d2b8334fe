"""What a value is formed with beside rows: the version, its prices, and the decomposition that is asked for. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from evidence.metrics import columns
from evidence.metrics.asking import Decomposer
from evidence.metrics.decomposers.parts import Share
from evidence.metrics.definition import MetricVersion
from evidence.metrics.exact import LIMIT, MOST_DIGITS
from evidence.metrics.rows import Line
from evidence.metrics.status import Code, Reason, because
from evidence.metrics.units import Quantity, UnlikeUnits, unit
from evidence.metrics.valuation import Valuation

SECOND, RATIO = unit("s"), unit("ratio")


class Unmeasured(ValueError):
    """Rows of which no value can be made; carries the reason."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.code)
        self.reason = reason


def check_size(*numbers: Fraction) -> None:
    """Raise Unmeasured for numbers that are longer than those that are read: no page could read them again."""
    if any(abs(number) >= LIMIT for number in numbers):
        raise Unmeasured(because(Code.TOO_LONG, digits=MOST_DIGITS))


@dataclass(frozen=True)
class Measure:
    """What is needed beside rows: the version, its prices, and the decomposition that is asked for."""

    version: MetricVersion
    valuation: Valuation | None
    decomposer: Decomposer

    def shares(self, lines: Sequence[Line]) -> list[Share]:
        """What each row adds, in the metric's unit. Raises Unreadable and Unmeasured."""
        return [self._share(line) for line in lines]

    def _share(self, line: Line) -> Share:
        kind = line.text(columns.KIND)
        amount = self.worth(kind, line.number_of(columns.QUANTITY), line.text(columns.UNIT))
        return Share(line.text(columns.ENTITY), kind, amount, self.keys(line))

    def worth(self, kind: str, quantity: Fraction, unit_name: str) -> Fraction:
        """So many of a unit, priced where the metric has a valuation, in the metric's unit. Raises Unmeasured."""
        known = self.worth_of_one(kind, unit_name)
        return quantity if known == 1 else quantity * known

    def worth_of_one(self, kind: str, unit_name: str) -> Fraction:
        """The same of one. Raises Unmeasured."""
        found = self._known.get((kind, unit_name))
        if found is None:
            found = self._known[kind, unit_name] = self._worth_of_one(kind, unit_name)
        return found

    @cached_property
    def _known(self) -> dict[tuple[str, str], Fraction]:
        """What one of a unit is worth by its kind, as far as it was asked."""
        return {}

    def _worth_of_one(self, kind: str, unit_name: str) -> Fraction:
        try:
            counted = Quantity(Fraction(1), unit(unit_name))
        except ValueError as error:
            raise Unmeasured(because(Code.UNKNOWN_VALUE, column=columns.UNIT, value=unit_name)) from error
        try:
            return self._priced(kind, counted).to(self.version.unit).amount
        except UnlikeUnits as error:
            reason = because(Code.UNIT_MISMATCH, kind=kind, unit=unit_name, wanted=self.version.unit.name)
            raise Unmeasured(reason) from error

    def _priced(self, kind: str, counted: Quantity) -> Quantity:
        if self.version.valuation is None:
            return counted
        if self.valuation is None or self.valuation.label != self.version.valuation:
            raise Unmeasured(because(Code.NO_PRICE, valuation=self.version.valuation))
        if kind not in self.valuation.prices:
            raise Unmeasured(because(Code.NO_PRICE, valuation=self.valuation.label, kind=kind))
        return self.valuation.prices[kind].of(counted)

    def keys(self, line: Line) -> dict[str, str | None]:
        """What the row is divided by, where a division is asked for. Raises Unreadable."""
        return {self.decomposer.key: line.key(self.decomposer.key)} if self.divides else {}

    def share_of(self, ratio: Fraction) -> Fraction:
        """A ratio in the metric's unit. Raises Unmeasured."""
        return self._converted(Quantity(ratio, RATIO))

    def time_of(self, seconds: Fraction) -> Fraction:
        """So many seconds in the metric's unit. Raises Unmeasured."""
        return self._converted(Quantity(seconds, SECOND))

    def _converted(self, quantity: Quantity) -> Fraction:
        try:
            return quantity.to(self.version.unit).amount
        except UnlikeUnits as error:
            reason = because(Code.UNIT_MISMATCH, unit=quantity.unit.name, wanted=self.version.unit.name)
            raise Unmeasured(reason) from error

    @property
    def divides(self) -> bool:
        """Whether the value is divided by a column of the rows."""
        return self.decomposer.type == "partition"
