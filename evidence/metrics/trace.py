"""A trace: what was recorded of something, in order, with its gaps as items and its end said when it was cut. Pure.

It is ordered by when a thing happened, then by when it became known, then by its row. What stands side by side happened
at the same time, and nothing here says that it happened because of the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from evidence.metrics import columns, rows
from evidence.metrics.explaining import Reading
from evidence.metrics.rows import Line, Unreadable
from evidence.metrics.status import Reason, Status, settle

AT, RECORDED_AT, ID, WHAT, ACTOR, RELATION = "at", "recorded_at", "id", "what", "actor", "relation"
NEEDED = frozenset({AT, RECORDED_AT, ID, WHAT, ACTOR, RELATION})
ORDER = (AT, RECORDED_AT, RELATION, ID)


@dataclass(frozen=True)
class Event:
    """One thing that was recorded; times in seconds."""

    at: Fraction
    recorded_at: Fraction
    id: str
    what: str  # a code of the source, as it is kept there
    actor: str | None
    relation: str  # where the row stands
    tick: int | None = None


@dataclass(frozen=True)
class Gap:
    """Ticks that no row has, in their place."""

    since: int
    until: int


@dataclass(frozen=True)
class Cut:
    """The end of a trace of which there is more: so many rows were read, in their order, up to this moment."""

    rows: int
    until: Fraction | None


Item = Event | Gap | Cut


@dataclass(frozen=True)
class Trace:
    """The items, and whether they are all. A trace has no value; unresolved means that it must not be read as whole."""

    items: tuple[Item, ...]
    status: Status
    reasons: tuple[Reason, ...]


def trace(reading: Reading, among: Reading | None = None) -> Trace:
    """The trace of what was read, which may be some rows `among` others: a gap is then where none of all is.

    Rows that were cut are the first ones in their order. Behind them nothing is known, so no gap is told there.
    """
    reasons = list(reading.reasons())
    lines = rows.lines(reading.rows)
    whole = rows.lines(among.rows) if among is not None and (lines or reading.is_truncated) else lines
    is_cut = reading.is_truncated
    try:
        reasons += () if reading.failed or is_cut else rows.standing(whole)
        events = sorted(map(_event, lines), key=lambda event: (event.at, event.recorded_at, event.relation, event.id))
        end = [Cut(len(whole), max((line.number_of(AT) for line in whole), default=None))] if is_cut else []
        items = [*_with_gaps(events, whole, is_cut=is_cut), *end]
    except Unreadable as error:
        return Trace((), Status.UNRESOLVED, (*reasons, error.reason))
    return Trace(tuple(items), _status(reasons), tuple(reasons))


def _status(reasons: Sequence[Reason]) -> Status:
    return settle(Fraction(0), reasons).status


def _event(line: Line) -> Event:
    return Event(
        at=line.number_of(AT),
        recorded_at=line.number_of(RECORDED_AT),
        id=line.text(ID),
        what=line.text(WHAT),
        actor=line.key(ACTOR),
        relation=line.text(RELATION),
        tick=line.whole(columns.TICK) if columns.TICK in line.row else None,
    )


def _with_gaps(events: Sequence[Event], lines: Sequence[Line], *, is_cut: bool) -> Iterator[Item]:
    """The events, with each gap of the lines before the first event that comes after it."""
    there = {line.whole(columns.TICK) for line in lines if columns.TICK in line.row}
    spans = {
        (line.whole(columns.FIRST_TICK), line.whole(columns.LAST_TICK)) for line in lines if columns.TICK in line.row
    }
    waiting: list[tuple[int, int]] = []
    if len(spans) == 1:
        first, last = spans.pop()
        waiting = list(rows.missing(first, max(there) if is_cut else last, there))
    for event in events:
        while waiting and event.tick is not None and waiting[0][1] < event.tick:
            yield Gap(*waiting.pop(0))
        yield event
    yield from (Gap(*gap) for gap in waiting)
