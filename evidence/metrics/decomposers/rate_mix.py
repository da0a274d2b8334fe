"""Ratio: a change of p/q between two periods, by how the groups' rates changed and how the mix of groups did.

With a group's rate r = p/q and its share of the mix m = q/Q, the whole ratio is the sum of m x r, and its change is
exactly sum(m0 x (r1 - r0)) + sum(r0 x (m1 - m0)) + sum((m1 - m0) x (r1 - r0)): rate, mix, and an interaction that is
neither's and is shown by itself (the three-fold form of Kitagawa, 1955, and Oaxaca and Blinder, 1973).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from evidence.metrics.decomposers.parts import Component, Decomposition
from evidence.metrics.status import Code, Reason, because


@dataclass(frozen=True)
class Ratio:
    """A numerator over a denominator, of one group in one period."""

    numerator: Fraction
    denominator: Fraction


class ZeroDenominator(ValueError):
    """A period in which nothing was counted: 0/0 is not 0."""


def whole(groups: Mapping[str, Ratio]) -> Fraction:
    """The ratio over all groups. Raises ZeroDenominator."""
    denominator = sum((ratio.denominator for ratio in groups.values()), Fraction(0))
    if not denominator:
        raise ZeroDenominator("Nothing was counted, so there is no ratio.")
    return sum((ratio.numerator for ratio in groups.values()), Fraction(0)) / denominator


def decompose(before: Mapping[str, Ratio], after: Mapping[str, Ratio]) -> Decomposition:
    """The change: for each group what its rate and its mix make, and the interaction. Raises ZeroDenominator.

    A group that was not there in one of the periods has no rate in it. Nothing can have been seen to change in it then,
    so all that it brings or takes away counts as mix.
    """
    value = whole(after) - whole(before)
    totals = [sum((one.denominator for one in side.values()), Fraction(0)) for side in (before, after)]
    components: list[Component] = []
    interaction = Fraction(0)
    for group in sorted({*before, *after}):
        sides = [side.get(group, Ratio(Fraction(0), Fraction(0))) for side in (before, after)]
        mix, later_mix = (one.denominator / total for one, total in zip(sides, totals, strict=True))
        rate, later_rate = _rates(*sides)
        components.append(Component(group, mix * (later_rate - rate), "rate"))
        components.append(Component(group, rate * (later_mix - mix), "mix"))
        interaction += (later_mix - mix) * (later_rate - rate)
    components.append(Component("interaction", interaction, "interaction"))
    return Decomposition("rate_mix", value, tuple(components), _contradictions(before, after))


def _rates(before: Ratio, after: Ratio) -> tuple[Fraction, Fraction]:
    rates = [one.numerator / one.denominator if one.denominator else None for one in (before, after)]
    first, second = rates
    known = first if first is not None else second
    if known is None:
        return Fraction(0), Fraction(0)
    return (known if first is None else first), (known if second is None else second)


def _contradictions(*sides: Mapping[str, Ratio]) -> tuple[Reason, ...]:
    """A part of nothing, or less than nothing: such rows are not what they say."""
    return tuple(
        because(Code.CONTRADICTION, entity=group, column="denominator")
        for side in sides
        for group, ratio in sorted(side.items())
        if ratio.denominator < 0 or (ratio.numerator and not ratio.denominator)
    )
