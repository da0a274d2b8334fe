"""Units of a trace that is still being written, in blocks, with one bit for each in numbers that stay short.

What a new text repeats of a block, and what of it a new unit matches, is counted in all of its units at once (see
`holding`); each unit's counter starts as far below a power of two as the unit asks for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from evidence.survival.holding import carried, numbers_in
from evidence.survival.repeated import Groups, contains, threshold
from evidence.survival.words import Unit

SIZE = 16_384  # units; of longer numbers each step costs more, of shorter ones there are more


class Block:
    """Units in their order, with the items that they are of."""

    def __init__(self) -> None:
        self.units: list[Unit] = []
        self.owners: list[int] = []
        self._masks: dict[str, int] = {}
        self._starts: list[int] = []  # of each unit's counter: a plane for each binary digit
        self._asking: dict[int, int] = defaultdict(int)  # the units that ask for so many words
        self._repeated: dict[str, list[int]] = defaultdict(list)  # units of one repeated word, by it
        self._groups: set[int] = set()
        self._joins = -1

    def add(self, unit: Unit, owner: int) -> None:
        """Take a unit in."""
        place = len(self.units)
        self.units.append(unit)
        self.owners.append(owner)
        self._groups.add(owner)
        self._joins = -1
        for word in unit.informative:
            self._masks[word] = self._masks.get(word, 0) | 1 << place
        self._start(1 << place, threshold(unit.informative))
        if len(unit.informative) == 1:
            self._repeated[next(iter(unit.informative))].append(place)

    def repeated_by(self, phrase: str, words: frozenset[str]) -> int:
        """The units that a text repeats, one bit each."""
        return carried(self._of(words), [*self._starts]) | self._in_these_words(phrase, words)

    def matching(self, unit: Unit) -> int:
        """The units that a unit matches, or that match it."""
        words = unit.informative
        found = self._in_these_words(unit.phrase, words)
        if len(words) > 1:
            return found | carried(self._of(words), self._starts_at_most(threshold(words)))
        for place in (place for mask in self._of(words) for place in numbers_in(mask)):
            found |= contains(self.units[place].phrase, unit.phrase) << place
        return found

    def _in_these_words(self, phrase: str, words: frozenset[str]) -> int:
        """The units of one repeated word that stand in a text as they are."""
        found = 0
        for word in words & self._repeated.keys():
            for place in self._repeated[word]:
                found |= contains(phrase, self.units[place].phrase) << place
        return found

    def is_within(self, item: int, groups: Groups) -> bool:
        """Whether all units are of the item's own group."""
        if self._joins != groups.joins:
            self._groups, self._joins = {groups.root(owner) for owner in self._groups}, groups.joins
        return self._groups == {groups.root(item)}

    def items_at(self, mask: int) -> Iterator[int]:
        """The items whose units the bits stand for, again for each unit."""
        return (self.owners[place] for place in numbers_in(mask))

    def _of(self, words: frozenset[str]) -> list[int]:
        return [mask for word in words if (mask := self._masks.get(word))]

    def _start(self, bit: int, least: int) -> None:
        self._asking[least] |= bit
        while len(self._starts) < (least - 1).bit_length():
            self._starts.append(bit - 1)  # the power of two doubles: all before start by as much higher
        start = (1 << len(self._starts)) - least
        for place, plane in enumerate(self._starts):
            self._starts[place] = plane | bit if start >> place & 1 else plane

    def _starts_at_most(self, least: int) -> list[int]:
        """The counters of units that ask for more start as if they asked for so many: the shorter of a pair decides."""
        start = (1 << len(self._starts)) - least
        if start < 0:
            return [*self._starts]  # nobody asks for as many
        more = 0
        for asked, units in self._asking.items():
            more |= units if asked > least else 0
        return [plane & ~more | (more if start >> place & 1 else 0) for place, plane in enumerate(self._starts)]
