"""Partition: groups by a key, none of them twice, that sum to the value; what has no key is a group that says so."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from evidence.metrics import sums
from evidence.metrics.decomposers.parts import Component, Decomposition, Share

OTHER = "other"


def decompose(value: Fraction, shares: Sequence[Share], key: str) -> Decomposition:
    """A component for each value of the key, by name; shares without one come last, as the part `other`.

    Raises ValueError for a share that does not have the key at all: that is another sort of row, not another group.
    """
    amounts: dict[str | None, list[Fraction]] = {}
    for share in shares:
        if key not in share.keys:
            raise ValueError(f"A row has no column {key}, by which the value is to be divided.")
        amounts.setdefault(share.keys[key], []).append(share.amount)
    named = sorted(name for name in amounts if name is not None)
    rest = [Component(OTHER, sums.total(amounts[None]), OTHER)] if None in amounts else []
    return Decomposition("partition", value, (*(Component(name, sums.total(amounts[name])) for name in named), *rest))
