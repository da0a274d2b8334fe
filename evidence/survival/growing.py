"""The compatible measure of a trace that is still being written: a step more costs what it shares with those before."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

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
        self._final: list[int] = []
        self._evidence_ids: set[str | None] = set()
        self._holding: dict[str, list[int]] = defaultdict(list)

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
        """The report so far, in time that grows with its own size."""
        return report_of(self._reader.steps, self._items, self._sinks, self._groups.repeated())

    def _introduce(self, step: Step) -> None:
        item = Item(step, list(units_of(step.content)))
        owner = self._groups.grow()
        self._items.append(item)
        for unit in item.units:
            for other, shared in self._sharing(unit.informative):
                if self._groups.root(self._owners[other]) != self._groups.root(owner) and _alike(
                    unit, self._units[other], shared
                ):
                    self._groups.join(owner, self._owners[other])
        for unit in item.units:
            for word in unit.informative:
                self._holding[word].append(len(self._units))
            self._units.append(unit)
            self._owners.append(owner)

    def _reuse(self, sink: Step) -> None:
        words = words_of(sink.content)
        phrase = " ".join(words)
        found = [
            number
            for number, shared in self._sharing(informative(words))
            if _matches(self._units[number], phrase, shared)
        ]
        for number in found:
            item = self._items[self._owners[number]]
            item.sinks |= 1 << len(self._sinks)
            item.reused += number not in self._reused
        self._reused.update(found)
        self._sinks.append(sink)
        if sink.type == "assistant":
            self._answer(found)

    def _answer(self, found: list[int]) -> None:
        """The last answer is another one now."""
        for number in self._final:
            self._items[self._owners[number]].final -= 1
        for number in found:
            self._items[self._owners[number]].final += 1
        self._final = found

    def _sharing(self, words: frozenset[str]) -> Iterator[tuple[int, int]]:
        """The units so far that hold any of the words, and how many."""
        counts: Counter[int] = Counter()
        for word in words & self._holding.keys():
            counts.update(self._holding[word])
        yield from counts.items()


def _matches(unit: Unit, phrase: str, shared: int) -> bool:
    if len(unit.informative) == 1:
        return contains(phrase, unit.phrase)
    return shared >= threshold(unit.informative)


def _alike(one: Unit, other: Unit, shared: int) -> bool:
    return _matches(one, other.phrase, shared) or _matches(other, one.phrase, shared)
