"""Times of several entities: each covered by itself, added by kind, and the medians of stages. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import chain

from evidence.metrics import columns, medians, sums
from evidence.metrics.decomposers import telescoping, time_cover
from evidence.metrics.decomposers.parts import Component, Decomposition, Piece
from evidence.metrics.measure import Measure, Unmeasured
from evidence.metrics.medians import Median
from evidence.metrics.rows import Line, Lines
from evidence.metrics.status import Code, because

Cover = Callable[[str, Fraction, Fraction, Sequence[Piece]], Decomposition]


def interval(measure: Measure, lines: Lines) -> Decomposition:
    """The time of each entity by its reasons. Raises Unreadable and Unmeasured."""
    one = measure.decomposer

    def cover(name: str, begins: Fraction, finishes: Fraction, pieces: Sequence[Piece]) -> Decomposition:
        return time_cover.decompose(name, begins, finishes, pieces, one.kinds, one.without_reason)

    return _by_entity(measure, lines, cover)


def stages(measure: Measure, lines: Lines) -> Decomposition:
    """The time of each entity by the stages that it went through. Raises Unreadable and Unmeasured."""

    def cover(name: str, begins: Fraction, finishes: Fraction, pieces: Sequence[Piece]) -> Decomposition:
        return telescoping.decompose(name, begins, finishes, pieces, measure.decomposer.kinds)

    whole = _by_entity(measure, lines, cover)
    found = medians.of_stages(_entities(lines).values(), measure.decomposer.kinds)
    return replace(whole, medians=tuple(_median_in_unit(measure, one) for one in found))


def _entities(lines: Lines) -> dict[str, list[Line]]:
    found: dict[str, list[Line]] = {}
    for line in lines:
        found.setdefault(line.text(columns.ENTITY), []).append(line)
    return found


def _median_in_unit(measure: Measure, one: Median) -> Median:
    median, low, high = (
        None if seconds is None else measure.time_of(seconds) for seconds in (one.median, one.low, one.high)
    )
    return replace(one, median=median, low=low, high=high)


def _by_entity(measure: Measure, lines: Lines, cover: Cover) -> Decomposition:
    """The times of several entities, each covered by itself, and then added by kind."""
    found = [_of_entity(name, its_own, cover) for name, its_own in _entities(lines).items()]
    amounts: dict[str, list[Fraction]] = {name: [] for name in measure.decomposer.kinds}
    for component in chain.from_iterable(one.components for one in found):
        amounts[component.name].append(component.amount)
    return Decomposition(
        measure.decomposer.type,
        measure.time_of(sums.total(one.value for one in found)),
        tuple(Component(name, measure.time_of(sums.total(each))) for name, each in amounts.items()),
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
