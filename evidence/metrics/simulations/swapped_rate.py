"""Another group's rate: what one group served, at the rate of another that served at the same time.

The other's rate is a sample, so what follows from it is an interval (Wilson's score interval, E. B. Wilson, 1927). It
is taken from ticks in which both served; where the other did not serve, using its rate is an extension and is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from evidence.metrics import columns
from evidence.metrics.exact import NORMAL_95
from evidence.metrics.measure import Measure, Unmeasured
from evidence.metrics.rows import Line
from evidence.metrics.simulations.model import Model, Simulated
from evidence.metrics.status import Code, Reason, because

PER = "per"  # what one of the denominator counts for: a budget's rate, or 1
DIGITS = 10**20  # to which a root is bounded, outwards


def run(measure: Measure, lines: Sequence[Line], factual: str, value: str) -> Simulated:
    """The ratio with the group `factual` at the rate of the group `value`; the same ratio when they are one."""
    sample = _sample(lines, factual, value)
    moved = [line for line in lines if line.text(columns.KIND) == factual]
    served = sum((line.number_of(columns.DENOMINATOR) for line in moved), Fraction(0))
    kept = sum((line.number_of(columns.NUMERATOR) for line in lines if line.text(columns.KIND) != factual), Fraction(0))
    whole = sum((line.number_of(columns.DENOMINATOR) * line.number_of(PER) for line in lines), Fraction(0))
    if not whole:
        raise Unmeasured(because(Code.ZERO_DENOMINATOR))

    def ratio(rate: Fraction) -> Fraction:
        return measure.share_of((kept + served * rate) / whole)

    found = ratio(sample.rate)
    low, high = (sample.rate, sample.rate) if factual == value else wilson(sample.bad, sample.served)
    return Simulated(found, found, found, (ratio(low), ratio(high)), sample.reasons)


@dataclass(frozen=True)
class _Sample:
    bad: int
    served: int
    reasons: tuple[Reason, ...]

    @property
    def rate(self) -> Fraction:
        return Fraction(self.bad, self.served)


def _sample(lines: Sequence[Line], factual: str, value: str) -> _Sample:
    """The counts of the group whose rate is taken, in the ticks in which the other served too."""
    ticks = {group: _ticks(lines, group) for group in (factual, value)}
    matched = ticks[factual] & ticks[value]
    taken = [line for line in lines if line.text(columns.KIND) == value and line.whole(columns.TICK) in matched]
    served = sum(line.whole(columns.DENOMINATOR) for line in taken)
    if not served:
        raise Unmeasured(because(Code.NO_DATA, group=value, matched=0))
    bad = sum(line.whole(columns.NUMERATOR) for line in taken)
    if not 0 <= bad <= served:
        raise Unmeasured(because(Code.CONTRADICTION, group=value, column=columns.NUMERATOR))
    beyond = len(ticks[factual] - matched)
    return _Sample(bad, served, (because(Code.EXTENDED, group=value, ticks=beyond),) if beyond else ())


def _ticks(lines: Sequence[Line], group: str) -> set[int]:
    return {
        line.whole(columns.TICK)
        for line in lines
        if line.text(columns.KIND) == group and line.number_of(columns.DENOMINATOR) > 0
    }


def wilson(bad: int, served: int) -> tuple[Fraction, Fraction]:
    """Wilson's interval at 95 % for a share, rounded outwards in its one root, so that it is never too narrow."""
    share, square = Fraction(bad, served), NORMAL_95 * NORMAL_95
    center = share + square / (2 * served)
    spread = NORMAL_95 * _root_above(share * (1 - share) / served + square / (4 * served * served))
    scale = 1 + square / served
    return max((center - spread) / scale, Fraction(0)), min((center + spread) / scale, Fraction(1))


def _root_above(number: Fraction) -> Fraction:
    """A root that is not too small, by at most one in DIGITS."""
    scaled = number * DIGITS * DIGITS
    return Fraction(isqrt(-(-scaled.numerator // scaled.denominator)) + 1, DIGITS)


MODEL = Model(
    run,
    frozenset({columns.KIND, columns.NUMERATOR, columns.DENOMINATOR, PER, columns.TICK}),
    columns.TICKS,
    is_sampled=True,
)
