"""Where each rule matches, as boxes in the space of answers, and what of a box the rules before it leave.

Every answer to a question falls into one of finitely many classes that no rule tells apart, so a rule is a set of
classes per question, and what is left of it can be computed exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from gate.admission.cells import Cell, cells_of
from gate.admission.program import Condition, Program

Box = dict[str, frozenset[int]]  # by question: the numbers of its cells; a question that is not named may be any
MOST_PIECES = 50_000  # looked at for one program; beyond that it is refused


class TooMany(Exception):
    """The rules overlap in more ways than can be told apart in a moment."""


class Space:
    """The classes of answers to each question of a program."""

    def __init__(self, program: Program) -> None:
        self._looked_at = 0
        self.cells: Mapping[str, Sequence[Cell]] = {
            one.id: cells_of(one, (each for rule in program.rules for each in rule.when)) for one in program.questions
        }

    def box(self, conditions: Iterable[Condition]) -> Box | None:
        """Where all of these hold, or None when nowhere."""
        found: Box = {}
        for one in conditions:
            holding = frozenset(n for n, cell in enumerate(self.cells[one.q]) if one.holds(cell.value, cell.is_unsure))
            found[one.q] = found.get(one.q, holding) & holding
        return found if all(found.values()) else None

    def unsure(self, question: str) -> Box | None:
        """Where the answer to this question is below its threshold."""
        return self._where(question, is_unsure=True)

    def sure(self) -> Box:
        """Where every answer is sure."""
        boxes = (self._where(one, is_unsure=False) for one in self.cells)
        return {name: cells for box in boxes if box is not None for name, cells in box.items()}

    def _where(self, question: str, *, is_unsure: bool) -> Box | None:
        found = frozenset(n for n, cell in enumerate(self.cells[question]) if cell.is_unsure is is_unsure)
        return {question: found} if found else None

    def is_left(self, box: Box | None, before: Iterable[Box | None]) -> bool:
        """Whether anything of a box is in none of those before it. Raises TooMany."""
        left = [] if box is None else [box]
        for taken in before:
            if taken is not None:
                left = [piece for one in left for piece in self._without(one, taken)]
            self._looked_at += max(0, len(left) - 1)  # a box that stays whole costs next to nothing
            if self._looked_at > MOST_PIECES:
                raise TooMany
        return bool(left)

    def _without(self, box: Box, taken: Box) -> Iterable[Box]:
        """The parts of a box outside another: one per question of the other, and none of them overlap."""
        if any(name in box and box[name].isdisjoint(cells) for name, cells in taken.items()):
            yield box
            return
        inside = dict(box)
        for name, cells in taken.items():
            mine = inside.get(name, frozenset(range(len(self.cells[name]))))
            if mine - cells:
                yield {**inside, name: mine - cells}
            inside[name] = mine & cells


def both(one: Box | None, other: Box | None) -> Box | None:
    """Where both are, or None when nowhere."""
    if one is None or other is None:
        return None
    met = {**one, **other} | {name: one[name] & other[name] for name in one.keys() & other.keys()}
    return met if all(met.values()) else None
