"""How a metric's value is formed from its rows, and taken apart: one way for each measure. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from evidence.metrics import by_columns, columns, sums, times
from evidence.metrics.decomposers import additive, partition, parts, precedence, rate_mix
from evidence.metrics.decomposers.parts import Component, Decomposition, Share
from evidence.metrics.decomposers.rate_mix import Ratio
from evidence.metrics.exact import LONGEST_FRACTION
from evidence.metrics.measure import Measure, Unmeasured, check_size
from evidence.metrics.rows import Lines
from evidence.metrics.status import Code, because


def measured(measure: Measure, lines: Lines) -> Decomposition:
    """The value and its components. Raises Unreadable, Unmeasured and ZeroDenominator."""
    found = _WAYS[measure.version.measure](measure, lines)
    check_size(found.value, found.residual, parts.largest(found.components))
    return found


def _sum(measure: Measure, lines: Lines) -> Decomposition:
    found = by_columns.summed(measure, lines.rows)
    if found is not None:
        return found
    shares = measure.shares(lines)
    value = sums.total(share.amount for share in shares)
    kinds = measure.version.decomposers[0].kinds
    whole = additive.decompose(value, shares, kinds)
    return _or_by_key(measure, whole, shares)


def _precedence(measure: Measure, lines: Lines) -> Decomposition:
    found = by_columns.precedence(measure, lines.rows)
    if found is not None:
        return found
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
    "interval": times.interval,
    "stages": times.stages,
    "ratio": _ratio,
    "ratio_change": _ratio_change,
}
