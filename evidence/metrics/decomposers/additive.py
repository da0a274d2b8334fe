"""Additive: kinds of a closed list that sum to the value, exactly."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from evidence.metrics import sums
from evidence.metrics.decomposers.parts import Component, Decomposition, Share
from evidence.metrics.status import Code, because


def decompose(value: Fraction, shares: Sequence[Share], kinds: Sequence[str]) -> Decomposition:
    """A component for each kind, in the list's order, zero where there is no share.

    A share of a kind that is not listed is in no component: it shows as a residual and as an unknown value.
    """
    amounts: dict[str, list[Fraction]] = {kind: [] for kind in kinds}
    unknown = dict.fromkeys(share.kind for share in shares if share.kind not in amounts)
    for share in shares:
        if share.kind in amounts:
            amounts[share.kind].append(share.amount)
    reasons = tuple(because(Code.UNKNOWN_VALUE, column="kind", value=kind) for kind in unknown)
    components = tuple(Component(kind, sums.total(each)) for kind, each in amounts.items())
    return Decomposition("additive", value, components, reasons)
