"""How a metric's value is formed from its rows, and taken apart: one way for each measure. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import chain

from evidence.metrics import by_columns, columns, sums
from evidence.metrics.asking import Decomposer
from evidence.metrics.decomposers import additive, partition, precedence, rate_mix, telescoping, time_cover
from evidence.metrics.decomposers.parts import Component, Decomposition, Piece, Share
from evidence.metrics.decomposers.rate_mix import Ratio
from evidence.metrics.definition import MetricVersion
from evidence.metrics.exact import LONGEST_FRACTION
from evidence.metrics.rows import Line, Lines
from evidence.metrics.status import Code, Reason, because
from evidence.metrics.units import Quantity, UnlikeUnits, unit
from evidence.metrics.valuation import Valuation

SECOND, RATIO = unit("s"), unit("ratio")


class Unmeasured(ValueError):
    """Rows of which no value can be made; carries the reason."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.code)
        self.reason = reason


Cover = Callable[[str, Fraction, Fraction, Sequence[Piece]], Decomposition]


@dataclass(frozen=True)
class Measure:
    """What is needed beside rows: the version, its prices, and the decomposition that is asked for."""

    version: MetricVersion
    valuation: Valuation | None
    decomposer: Decomposer

    def of(self, lines: Lines) -> Decomposition:
        """The value and its components. Raises Unreadable, Unmeasured and ZeroDenominator."""
        return _WAYS[self.version.measure](self, lines)

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
        return _converted(self, Quantity(ratio, RATIO))

    @property
    def divides(self) -> bool:
        """Whether the value is divided by a column of the rows."""
        return self.decomposer.type == "partition"


def _sum(measure: Measure, lines: Lines) -> Decomposition:
    found = by_columns.summed(measure, lines.rows)
    shares = measure.shares(lines) if found is None else found
    value = sums.total(share.amount for share in shares)
    kinds = measure.version.decomposers[0].kinds
    whole = additive.decompose(value, shares, kinds)
    return _or_by_key(measure, whole, shares)


def _precedence(measure: Measure, lines: Lines) -> Decomposition:
    found = by_columns.precedence(measure, lines.rows)
    if found is not None:
        return _or_by_key(measure, *found)
    claims = measure.shares(lines)
    order = measure.version.decomposers[0].kinds
    whole = precedence.decompose(claims, order)
    buckets = precedence.winners(claims, order)
    # Where an entity is claimed by several, only the row that won counts, and once.
    won = {claim.entity: claim for claim in reversed(claims) if buckets.get(claim.entity) == claim.kind}
    return _or_by_key(measure, whole, list(won.values()))


def _or_by_key(measure: Measure, whole: Decomposition, shares: Sequence[Share]) -> Decomposition:
    """The whole, or its division by a key. What stands against the whole stands against each division of it."""
    if not measure.divides:
        return whole
    divided = partition.decompose(whole.value, shares, measure.decomposer.key)
    return Decomposition(divided.type, divided.value, divided.components, whole.reasons)


def _interval(measure: Measure, lines: Lines) -> Decomposition:
    one = measure.decomposer

    def cover(name: str, begins: Fraction, finishes: Fraction, pieces: Sequence[Piece]) -> Decomposition:
        return time_cover.decompose(name, begins, finishes, pieces, one.kinds, one.without_reason)

    return _by_entity(measure, lines, cover)


def _stages(measure: Measure, lines: Lines) -> Decomposition:
    def cover(name: str, begins: Fraction, finishes: Fraction, pieces: Sequence[Piece]) -> Decomposition:
        return telescoping.decompose(name, begins, finishes, pieces, measure.decomposer.kinds)

    return _by_entity(measure, lines, cover)


def _by_entity(measure: Measure, lines: Lines, cover: Cover) -> Decomposition:
    """The times of several entities, each covered by itself, and then added by kind."""
    entities: dict[str, list[Line]] = {}
    for line in lines:
        entities.setdefault(line.text(columns.ENTITY), []).append(line)
    found = [_of_entity(name, its_own, cover) for name, its_own in entities.items()]
    amounts: dict[str, list[Fraction]] = {name: [] for name in measure.decomposer.kinds}
    for component in chain.from_iterable(one.components for one in found):
        amounts[component.name].append(component.amount)
    return Decomposition(
        measure.decomposer.type,
        _in_unit(measure, sums.total(one.value for one in found)),
        tuple(Component(name, _in_unit(measure, sums.total(each))) for name, each in amounts.items()),
        tuple(chain.from_iterable(one.reasons for one in found)),
    )


def _of_entity(name: str, lines: Sequence[Line], cover: Cover) -> Decomposition:
    spans = {(line.number_of(columns.BEGINS), line.number_of(columns.FINISHES)) for line in lines}
    if len(spans) != 1:
        raise Unmeasured(because(Code.CONTRADICTION, entity=name, column=columns.BEGINS))
    pieces = [
        Piece(line.text(columns.KIND), line.number_of(columns.STARTS), line.number_of(columns.ENDS)) for line in lines
    ]
    return cover(name, *spans.pop(), pieces)


def _in_unit(measure: Measure, seconds: Fraction) -> Fraction:
    return _converted(measure, Quantity(seconds, SECOND))


def _converted(measure: Measure, quantity: Quantity) -> Fraction:
    try:
        return quantity.to(measure.version.unit).amount
    except UnlikeUnits as error:
        reason = because(Code.UNIT_MISMATCH, unit=quantity.unit.name, wanted=measure.version.unit.name)
        raise Unmeasured(reason) from error


def _ratio(measure: Measure, lines: Lines) -> Decomposition:
    """The ratio, divided by whose numerators make it up, over the denominator of all."""
    found = by_columns.ratio(measure, lines.rows)
    if found is not None:
        return found
    pairs = [(line, Ratio(line.number_of(columns.NUMERATOR), line.number_of(columns.DENOMINATOR))) for line in lines]
    whole = rate_mix.whole({str(line.number): ratio for line, ratio in pairs})
    denominator = sum((ratio.denominator for _, ratio in pairs), Fraction(0))
    shares = [
        Share(str(line.number), "", measure.share_of(ratio.numerator / denominator), measure.keys(line))
        for line, ratio in pairs
    ]
    negative = [line for line, ratio in pairs if ratio.denominator < 0 or (ratio.numerator and not ratio.denominator)]
    reasons = tuple(because(Code.CONTRADICTION, row=line.number, column=columns.DENOMINATOR) for line in negative)
    divided = partition.decompose(measure.share_of(whole), shares, measure.decomposer.key)
    return Decomposition(divided.type, divided.value, divided.components, reasons)


def _ratio_change(measure: Measure, lines: Lines) -> Decomposition:
    sides: dict[str, dict[str, Ratio]] = {"before": {}, "after": {}}
    for line in lines:
        period, group = line.text(columns.PERIOD), line.text(columns.KIND)
        if period not in sides:
            raise Unmeasured(because(Code.UNKNOWN_VALUE, column=columns.PERIOD, value=period))
        one = sides[period].get(group, Ratio(Fraction(0), Fraction(0)))
        sides[period][group] = Ratio(
            one.numerator + line.number_of(columns.NUMERATOR), one.denominator + line.number_of(columns.DENOMINATOR)
        )
    found = rate_mix.decompose(sides["before"], sides["after"])
    # The interaction is a sum over all groups, and each brings denominators of its own.
    if any(one.amount.denominator > LONGEST_FRACTION for one in found.components):
        raise Unmeasured(because(Code.TOO_LONG, groups=len({*sides["before"], *sides["after"]})))
    components = tuple(Component(one.name, measure.share_of(one.amount), one.part) for one in found.components)
    return Decomposition(found.type, measure.share_of(found.value), components, found.reasons)


_WAYS: dict[str, Callable[[Measure, Lines], Decomposition]] = {
    "sum": _sum,
    "precedence": _precedence,
    "interval": _interval,
    "stages": _stages,
    "ratio": _ratio,
    "ratio_change": _ratio_change,
}
