"""Evidence that says the same again: groups of items of which any two units match, directly or by others between."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from evidence.survival.holding import Holding
from evidence.survival.words import Unit


def threshold(words: frozenset[str]) -> int:
    """How many of a unit's words a text must hold: two, or half of them where that is more."""
    return max(2, (len(words) + 1) // 2)


def contains(text: str, phrase: str) -> bool:
    """Whether the words of `phrase` stand in `text` in this order, whole and side by side."""
    return f" {phrase} " in f" {text} "


class Groups:
    """Sets that grow together (union-find)."""

    def __init__(self, size: int) -> None:
        self._parents = list(range(size))
        self.joins = 0  # as long as it is the same, so are the groups of all that were there

    def grow(self) -> int:
        """One item more, in a group of its own."""
        self._parents.append(len(self._parents))
        return self._parents[-1]

    def root(self, item: int) -> int:
        """Which group an item is in; the number means nothing else."""
        while self._parents[item] != item:
            self._parents[item] = item = self._parents[self._parents[item]]
        return item

    def join(self, one: int, other: int) -> int:
        """Make two groups one, under the root of the earlier one."""
        one, other = sorted((self.root(one), self.root(other)))
        self.joins += one != other
        self._parents[other] = one
        return one

    def repeated(self) -> list[list[int]]:
        """Every group of two or more, by its first member; so are the members."""
        found: dict[int, list[int]] = defaultdict(list)
        for item in range(len(self._parents)):
            found[self.root(item)].append(item)
        return [members for members in found.values() if len(members) > 1]


def repeated_groups(evidence: Sequence[Sequence[Unit]]) -> list[list[int]]:
    """The numbers of the items in each group of two or more."""
    groups = Groups(len(evidence))
    _join_by_words(evidence, groups)
    _join_by_phrases(evidence, groups)
    return groups.repeated()


def _join_by_words(evidence: Sequence[Sequence[Unit]], groups: Groups) -> None:
    """Each distinct unit, as the shorter of a pair, looks for units outside its own group that hold enough of it.

    Whoever found the whole group once finds nothing outside it any more, which costs next to nothing; so there are
    never more searches with a find than there are items.
    """
    first: dict[frozenset[str], int] = {}
    for item, units in enumerate(evidence):
        for unit in units:
            if len(unit.informative) > 1:
                groups.join(first.setdefault(unit.informative, item), item)
    rows, owners = list(first), list(first.values())
    outside = _Outside(owners, groups)
    index = Holding(rows)
    for row, words in enumerate(rows):
        elsewhere = outside.of(owners[row])
        found = elsewhere and index.at_least(words, threshold(words), elsewhere)
        while found:
            outside.join(owners[row], owners[(found & -found).bit_length() - 1])
            found &= outside.of(owners[row])


class _Outside:
    """For each group, the rows of all other groups as bits."""

    def __init__(self, owners: Sequence[int], groups: Groups) -> None:
        self._groups = groups
        self._all = (1 << len(owners)) - 1
        self._own: dict[int, int] = defaultdict(int)
        for row, owner in enumerate(owners):
            self._own[groups.root(owner)] |= 1 << row
        self._others: dict[int, int] = {}

    def of(self, item: int) -> int:
        root = self._groups.root(item)
        if root not in self._others:
            self._others[root] = self._all & ~self._own[root]
        return self._others[root]

    def join(self, one: int, other: int) -> None:
        one, other = self._groups.root(one), self._groups.root(other)
        self._others.pop(one, None)
        self._others.pop(other, None)
        own = self._own.pop(one) | self._own.pop(other)
        self._own[self._groups.join(one, other)] = own


def _join_by_phrases(evidence: Sequence[Sequence[Unit]], groups: Groups) -> None:
    """A unit of one repeated word has too few words to overlap: it matches where it stands as it is."""
    repeated: dict[str, dict[str, int]] = defaultdict(dict)
    for item, units in enumerate(evidence):
        for unit in units:
            if len(unit.informative) == 1:
                (word,) = unit.informative
                groups.join(repeated[word].setdefault(unit.phrase, item), item)
    for item, units in enumerate(evidence):
        for unit in units:
            for phrase, owner in _phrases(unit, repeated):
                if groups.root(owner) != groups.root(item) and contains(unit.phrase, phrase):
                    groups.join(owner, item)


def _phrases(unit: Unit, repeated: dict[str, dict[str, int]]) -> Iterable[tuple[str, int]]:
    for word in unit.informative & repeated.keys():
        yield from repeated[word].items()
