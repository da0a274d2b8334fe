"""Telescoping: stages that follow each other, so that their times sum to the end less the start."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise

from evidence.metrics.decomposers import time_cover
from evidence.metrics.decomposers.parts import Component, Decomposition, Piece
from evidence.metrics.status import Code, Reason, because


def decompose(
    entity: str, begins: Fraction, finishes: Fraction, stages: Sequence[Piece], order: Sequence[str]
) -> Decomposition:
    """The time of each stage, in the order of the list.

    What a cover of time has to hold, stages have to hold as well; besides, each comes at most once and after those that
    stand before it in the list.
    """
    covered = time_cover.decompose(entity, begins, finishes, stages, order)
    amounts = {component.name: component.amount for component in covered.components}
    components = tuple(Component(name, amounts[name]) for name in order)
    return Decomposition(
        "telescoping", covered.value, components, (*covered.reasons, *_disorder(entity, stages, order))
    )


def _disorder(entity: str, stages: Sequence[Piece], order: Sequence[str]) -> Iterator[Reason]:
    places = {name: place for place, name in enumerate(order)}
    known = [stage for stage in stages if stage.kind in places]
    in_time = sorted(known, key=lambda stage: (stage.starts, stage.ends, places[stage.kind]))
    for earlier, later in pairwise(in_time):
        if places[earlier.kind] >= places[later.kind]:
            yield because(Code.CONTRADICTION, entity=entity, column="kind", kind=later.kind)
