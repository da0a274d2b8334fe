"""The compatible measure of a trace that is still being written: a step more costs what it shares with those before.

What a new text repeats, and which earlier units a new unit matches, is counted in all of them at once, with one bit for
each (see `holding`). What an answer repeats is worked out when a report asks for it, for of all answers only the last
counts.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from evidence.survival.holding import numbers_in, reached
from evidence.survival.overlap import Item, report_of
from evidence.survival.repeated import Groups, contains, threshold
from evidence.survival.steps import EVIDENCE, SINKS, Step, StepReader
from evidence.survival.words import Unit, informative, units_of, words_of


class GrowingTrace:
    """Takes steps one by one. After any of them, its report is that of `analyze` over all so far."""

    def __init__(self) -> None:
        self._reader = StepReader()
        self._items: list[Item] = []
        self._sinks: list[Step] = []
        self._groups = Groups(0)
        self._units: list[Unit] = []
        self._owners: list[int] = []
        self._reused: set[int] = set()
        self._answer: tuple[Step, int] | None = None  # the last one, and how many units there were before it
        self._evidence_ids: set[str | None] = set()
        self._masks: dict[int, _Masks] = defaultdict(_Masks)  # units of several words, by how many of them are enough
        self._all = _Masks()
        self._repeated: dict[str, list[int]] = defaultdict(list)  # units of one repeated word, by it
        self._joined: dict[int, int] = {}  # the units of a group of several, by its root

    def append(self, step: object) -> None:
        """Add a step. Raises what `analyze` raises, an evidence id that was there at once; such a step is left out."""
        added = self._reader.add(step)
        if added.type in EVIDENCE:
            if added.evidence_id in self._evidence_ids:
                self._reader.leave_out_last()
                raise ValueError(f"duplicate evidence id {added.evidence_id!r}")
            self._evidence_ids.add(added.evidence_id)
            self._introduce(added)
        elif added.type in SINKS:
            self._reuse(added)

    def report(self) -> dict[str, Any]:
        """The report so far, in time that grows with its own size and with what the last answer repeats."""
        for item in self._items:
            item.final = 0
        if self._answer is not None:
            step, before = self._answer
            for number in self._matching(step):
                self._items[self._owners[number]].final += number < before
        return report_of(self._reader.steps, self._items, self._sinks, self._groups.repeated())

    def _introduce(self, step: Step) -> None:
        item = Item(step, list(units_of(step.content)))
        owner = self._groups.grow()
        self._items.append(item)
        for unit in item.units:
            self._link(owner, unit)
        first = len(self._units)
        for number, unit in enumerate(item.units, first):
            self._add(number, unit, owner)
        root = self._groups.root(owner)
        if root != owner:
            self._joined[root] |= _bits(first, len(self._units))

    def _add(self, number: int, unit: Unit, owner: int) -> None:
        self._units.append(unit)
        self._owners.append(owner)
        self._all.add(number, unit.informative)
        if len(unit.informative) == 1:
            self._repeated[next(iter(unit.informative))].append(number)
        else:
            self._masks[threshold(unit.informative)].add(number, unit.informative)

    def _reuse(self, sink: Step) -> None:
        bit = 1 << len(self._sinks)
        for number in self._matching(sink):
            item = self._items[self._owners[number]]
            item.sinks |= bit
            item.reused += number not in self._reused
            self._reused.add(number)
        self._sinks.append(sink)
        if sink.type == "assistant":
            self._answer = sink, len(self._units)

    def _matching(self, sink: Step) -> Iterator[int]:
        """The units so far that the text of a later step repeats."""
        words = words_of(sink.content)
        phrase, told = " ".join(words), informative(words)
        yield from numbers_in(self._held_by(told))
        for word in told & self._repeated.keys():
            yield from (number for number in self._repeated[word] if contains(phrase, self._units[number].phrase))

    def _held_by(self, words: frozenset[str]) -> int:
        """The units of several words of which these hold enough."""
        found = 0
        for least, masks in self._masks.items():
            found |= reached(masks.of(words), least)
        return found

    def _link(self, owner: int, unit: Unit) -> None:
        """Join the groups of all units that match a new one, or that it matches."""
        words = unit.informative
        found = self._held_by(words)
        if len(words) > 1:
            found |= reached(self._all.of(words), threshold(words))
        found |= self._by_phrase(unit)
        while found := found & ~self._own(owner):
            self._join(owner, self._owners[(found & -found).bit_length() - 1])

    def _by_phrase(self, unit: Unit) -> int:
        found = 0
        for word in unit.informative & self._repeated.keys():
            for number in self._repeated[word]:
                found |= contains(unit.phrase, self._units[number].phrase) << number
        if len(unit.informative) == 1:
            for mask in self._all.of(unit.informative):
                for number in numbers_in(mask):
                    found |= contains(self._units[number].phrase, unit.phrase) << number
        return found

    def _own(self, item: int) -> int:
        """The units that are in the group of an item already."""
        root = self._groups.root(item)
        if root in self._joined:
            return self._joined[root]
        return _bits(bisect_left(self._owners, root), bisect_right(self._owners, root))

    def _join(self, one: int, other: int) -> None:
        whole = self._own(one) | self._own(other)
        for item in (one, other):
            self._joined.pop(self._groups.root(item), None)
        self._joined[self._groups.join(one, other)] = whole


def _bits(start: int, end: int) -> int:
    """The bits from `start` up to, and without, `end`."""
    return ((1 << (end - start)) - 1) << start


class _Masks:
    """Units by word, one bit each."""

    def __init__(self) -> None:
        self._masks: dict[str, int] = {}
        self._added: dict[str, list[int]] = defaultdict(list)  # since the mask was made

    def add(self, number: int, words: Iterable[str]) -> None:
        for word in words:
            self._added[word].append(number)

    def of(self, words: frozenset[str]) -> list[int]:
        """The masks of those words that any unit holds."""
        return [mask for word in words if (mask := self._mask(word))]

    def _mask(self, word: str) -> int:
        added = self._added.pop(word, None)
        if added is None:
            return self._masks.get(word, 0)
        # One long number is made of them at once: each bit alone would copy the whole.
        first = added[0]
        new = 0
        for number in added:
            new |= 1 << (number - first)
        self._masks[word] = self._masks.get(word, 0) | new << first
        return self._masks[word]
