"""The compatible measure of a trace that is still being written: a step more costs what its own text is worth.

All units of a group count as one: as soon as a new result is known to be of a group, what else that group holds is not
looked at for its sake.
"""

from __future__ import annotations

from typing import Any

from evidence.survival.blocks import SIZE, Block
from evidence.survival.overlap import Item, report_of
from evidence.survival.repeated import Groups
from evidence.survival.steps import EVIDENCE, SINKS, Step, StepReader
from evidence.survival.words import informative, units_of, words_of


class GrowingTrace:
    """Takes steps one by one. After any of them, its report is that of `analyze` over all so far."""

    def __init__(self) -> None:
        self._reader = StepReader()
        self._items: list[Item] = []
        self._sinks: list[Step] = []
        self._groups = Groups(0)
        self._blocks: list[Block] = []
        self._reused: list[int] = []  # of each block, one bit for each unit that is met again
        self._final: list[int] = []  # of each block that was there before the last answer, what that repeats
        self._evidence_ids: set[str | None] = set()

    def append(self, step: object) -> None:
        """Add a step. Raises what `analyze` raises, an evidence id that was there at once; such a step is left out."""
        added = self._reader.add(step)
        if added.type in EVIDENCE:
            if added.evidence_id in self._evidence_ids:
                self._reader.leave_out_last()
                raise ValueError(f"duplicate evidence id: {added.evidence_id!r}")
            self._evidence_ids.add(added.evidence_id)
            self._introduce(added)
        elif added.type in SINKS:
            self._reuse(added)

    def report(self) -> dict[str, Any]:
        """The report so far, in time that grows with its own size."""
        for item in self._items:
            item.final = 0
        for block, found in zip(self._blocks, self._final, strict=False):
            for number in block.items_at(found):
                self._items[number].final += 1
        return report_of(self._reader.steps, self._items, self._sinks, self._groups.repeated())

    def _introduce(self, step: Step) -> None:
        item = Item(step, list(units_of(step.content)))
        owner = self._groups.grow()
        self._items.append(item)
        # The newest first: what follows each other is the most alike, and what is joined once is not looked at again.
        for block in reversed(self._blocks):
            self._link(owner, item, block)
        for unit in item.units:
            if not self._blocks or len(self._blocks[-1].units) == SIZE:
                self._blocks.append(Block())
                self._reused.append(0)
            self._blocks[-1].add(unit, owner)

    def _link(self, owner: int, item: Item, block: Block) -> None:
        """Join the groups of all units in a block that match one of a new item, or that it matches."""
        for unit in item.units:
            if block.is_within(owner, self._groups):
                return
            for other in block.items_at(block.matching(unit)):
                self._groups.join(owner, other)

    def _reuse(self, sink: Step) -> None:
        words = words_of(sink.content)
        phrase, told = " ".join(words), informative(words)
        found = [block.repeated_by(phrase, told) for block in self._blocks]
        bit = 1 << len(self._sinks)
        for number, (block, repeated) in enumerate(zip(self._blocks, found, strict=True)):
            for item in map(self._items.__getitem__, block.items_at(repeated)):
                item.sinks |= bit
            for item in map(self._items.__getitem__, block.items_at(repeated & ~self._reused[number])):
                item.reused += 1
            self._reused[number] |= repeated
        self._sinks.append(sink)
        if sink.type == "assistant":
            self._final = found
