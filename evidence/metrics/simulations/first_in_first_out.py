"""Another number of slots: a queue that serves in the order in which its entities are due.

It knows nothing of why a slot stood idle. Whether that matters is not assumed: with the recorded number of slots it has
to start every entity when it was started, within the tolerance, or it says nothing about another number.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from fractions import Fraction

from evidence.metrics import columns
from evidence.metrics.measure import Measure, Unmeasured
from evidence.metrics.rows import Line
from evidence.metrics.simulations.model import Model, Simulated
from evidence.metrics.status import Code, because

DUE, STARTED, HELD = "due", "started", "held"
MOST_SLOTS = 10_000


def run(measure: Measure, lines: Sequence[Line], factual: str, value: str) -> Simulated:
    """The waiting of the entities that are asked about, with `value` slots."""
    starts = _starts(lines, _slots(value))
    waits = [starts[line.number] - line.number_of(DUE) for line in lines if line.flag(columns.IS_ASKED, False)]
    if not waits:
        raise Unmeasured(because(Code.NO_DATA, column=columns.IS_ASKED))
    waited = measure.time_of(sum(waits, Fraction(0)))
    off = max(abs(starts[line.number] - line.number_of(STARTED)) for line in lines)
    return Simulated(waited, waited, waited, off=measure.time_of(off))


def _starts(lines: Sequence[Line], slots: int) -> Mapping[int, Fraction]:
    """When each row's entity starts: when it is due and a slot is free, the first due first."""
    free: list[Fraction] = []
    starts = {}
    for line in sorted(lines, key=lambda line: (line.number_of(DUE), line.number)):
        due = line.number_of(DUE)
        start = due if len(free) < slots else max(due, heapq.heappop(free))
        heapq.heappush(free, start + _held(line))
        starts[line.number] = start
    return starts


def _held(line: Line) -> Fraction:
    held = line.number_of(HELD)
    if held < 0:
        raise Unmeasured(because(Code.CONTRADICTION, row=line.number, column=HELD))
    return held


def _slots(value: str) -> int:
    if not (value.isascii() and value.isdigit() and 0 < int(value) <= MOST_SLOTS):
        raise Unmeasured(because(Code.NOT_LISTED, value=value))
    return int(value)


MODEL = Model(run, frozenset({columns.ENTITY, DUE, STARTED, HELD, columns.IS_ASKED}), is_simulator=True)
