"""Whether an entry can be trusted, as separate answers and never one: it was not changed, and nothing is missing.

Whether it is sealed and witnessed are two more: see seal_trust.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Q, QuerySet, Value

from audit.kinds import Kind
from audit.models import Entry
from audit.reading import Content

AROUND = 20  # numbers looked at on both sides of an entry


@dataclass(frozen=True)
class Answer:
    """One answer: ok, open (not yet known) or bad, in a word and a sentence."""

    question: str
    state: str
    word: str
    sentence: str

    @property
    def glyph(self) -> str:
        return {"ok": "✓", "open": "●", "bad": "✕"}[self.state]


def content_answer(content: Content) -> Answer:
    """Whether the row and its payload are what was written."""
    if content.redacted_by is not None:
        sentence = f"{content.why} What is left matches the digest that was taken when it was written."
        return Answer("Content", "open", "redacted", sentence)
    if not content.is_intact:
        return Answer("Content", "bad", "changed", f"This entry is not what was written. {content.why}")
    sentence = "Arguments, result and fields match the digest that was taken when they were written."
    return Answer("Content", "ok", "unchanged", sentence)


def completeness_answer(entry: Entry, beside: Neighbors) -> Answer:
    """Whether the entries that must stand beside it do: the other half of its call, and its writer's numbers."""
    numbers, pair = beside.numbers, beside.pair
    hole = hole_in(numbers, entry.writer_seq)
    if hole:
        return Answer("Complete", "bad", "gap", hole)
    if pair.fault:
        return Answer("Complete", "open" if pair.is_open else "bad", pair.word, pair.fault)
    session = f"session {entry.writer_run[:6]} of {entry.writer}"
    span = f"{session} wrote numbers {numbers[0]:,} to {numbers[-1]:,} without a hole"
    if numbers[-1] == entry.writer_seq:
        span += "; this is its last so far"
    sentence = f"{pair.words}{span}."
    return Answer("Complete", "ok", "no gap", sentence[0].upper() + sentence[1:])


def hole_in(numbers: list[int], here: int) -> str:
    """What is wrong with a writer's numbers around `here`, as a sentence; empty when nothing is."""
    expected = range(max(1, here - AROUND), numbers[-1] + 1)
    missing = sorted(set(expected) - set(numbers))
    if missing:
        return f"Its writer's entry number {missing[0]:,} is missing: an entry was lost or removed."
    if len(numbers) != len(set(numbers)):
        return "Two entries carry the same number of one writer: one of them was not written by it."
    return ""


@dataclass(frozen=True)
class Pair:
    """The start and the finish of a call. An entry that belongs to no call has neither."""

    start: Entry | None = None
    finish: Entry | None = None
    is_call: bool = False

    @property
    def is_open(self) -> bool:
        return self.finish is None

    @property
    def word(self) -> str:
        return "no finish yet" if self.is_open else "no start"

    @property
    def fault(self) -> str:
        """What is missing of a call, as a sentence."""
        if not self.is_call or (self.start and self.finish):
            return ""
        if self.is_open:
            return "The call has no finish: it still runs, or its outcome is unknown."
        return "The call has no start, so nothing shows that it was recorded before it ran."

    @property
    def words(self) -> str:
        return "The start has its finish, and " if self.is_call else ""


@dataclass(frozen=True)
class Neighbors:
    """The two entries of an entry's call, and its writer's numbers around it, in order."""

    pair: Pair
    numbers: list[int]


CALLS = (Kind.CALL_STARTED, Kind.CALL_FINISHED)


def neighbors_of(entry: Entry, also: QuerySet[Entry] | None = None) -> tuple[Neighbors, list[Entry]]:
    """What has to stand beside an entry, and what else is asked for, newest first: in one query."""
    first, last = entry.writer_seq - AROUND, entry.writer_seq + AROUND
    wanted = Q(writer_run=entry.writer_run, writer_seq__range=(first, last))
    is_call = entry.call_id is not None and entry.kind in CALLS
    if is_call:
        wanted |= Q(call_id=entry.call_id)
    beside = Entry.objects.filter(wanted).annotate(is_beside=Value(True)).order_by()
    # A union and no condition more: each side has its own index.
    rows = list(beside if also is None else beside.union(also.annotate(is_beside=Value(False)), all=True))
    found: list[Entry] = sorted((one for one in rows if one.is_beside), key=lambda one: one.pk, reverse=True)
    of_writer = [one.writer_seq for one in found if one.writer_run == entry.writer_run]
    numbers = sorted(number for number in of_writer if first <= number <= last)
    others: list[Entry] = sorted((one for one in rows if not one.is_beside), key=lambda one: one.seq, reverse=True)
    return Neighbors(_pair(entry, found) if is_call else Pair(), numbers), others


def _pair(entry: Entry, found: list[Entry]) -> Pair:
    halves = {half.kind: half for half in found if half.call_id == entry.call_id}
    return Pair(halves.get(Kind.CALL_STARTED), halves.get(Kind.CALL_FINISHED), is_call=True)
