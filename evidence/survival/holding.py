"""Which of many word sets hold at least so many of a few words: the one question behind both halves of the measure.

A word that few sets hold keeps a list of them, a word that many hold an integer with one bit per set. Counting in all
sets at once is then a handful of operations on long integers, however many sets there are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence

# Fewer candidates than this are looked at one by one.
FEW = 24
# Up to so many sets, every mask is kept.
SHORT = 20_000


class Holding:
    """An index over word sets, by their numbers."""

    def __init__(self, sets: Sequence[frozenset[str]], wanted: Collection[str] | None = None) -> None:
        """`wanted`, when given, names the only words that will ever be asked for."""
        self.sets = sets
        self._numbers: dict[str, list[int]] = defaultdict(list)
        self._masks: dict[str, int] = {}
        for number, words in enumerate(sets):
            for word in words if wanted is None else words & wanted:  # type: ignore[operator]
                self._numbers[word].append(number)

    def with_word(self, word: str) -> Sequence[int]:
        """The numbers of the sets that hold the word, rising."""
        return self._numbers.get(word, ())

    def at_least(self, words: frozenset[str], least: int, within: int = -1) -> int:
        """The sets among the bits of `within` that hold `least` or more of the words, one bit each. `least` ≥ 2."""
        order = sorted(words, key=lambda word: len(self.with_word(word)))
        # Who holds `least` of them holds one of these, for fewer than `least` words are left out.
        rare = [self.with_word(word) for word in order[: len(order) - least + 1]]
        if sum(map(len, rare)) <= FEW:
            return self._one_by_one({number for numbers in rare for number in numbers}, words, least) & within
        return self._by_bits(order, words, least, within)

    def _by_bits(self, order: Sequence[str], words: frozenset[str], least: int, within: int) -> int:
        masks = [self._mask(word) & within for word in order]
        # For the same reason, who holds `least` of them holds two of the rarest but for `least` - 2.
        once = twice = 0
        for mask in masks[: len(masks) - least + 2]:
            twice |= once & mask
            once |= mask
        if twice.bit_count() <= FEW:
            return self._one_by_one(numbers_in(twice), words, least)
        return reached([mask & twice for mask in masks], least)

    def _one_by_one(self, candidates: Iterable[int], words: frozenset[str], least: int) -> int:
        found = 0
        for number in candidates:
            if len(words & self.sets[number]) >= least:
                found |= 1 << number
        return found

    def _mask(self, word: str) -> int:
        known = self._masks.get(word)
        if known is not None:
            return known
        numbers = self.with_word(word)
        mask = _bits(numbers, len(self.sets))
        # In a long trace, those of rare words would take more room than it takes time to make them again.
        if len(self.sets) < SHORT or len(numbers) > FEW:
            self._masks[word] = mask
        return mask


def reached(masks: Sequence[int], least: int) -> int:
    """The bits that are set in at least `least` of the masks.

    A counter of every bit position at once, kept as planes of binary digits. It starts so far below a power of two that
    reaching `least` carries out of the last plane.
    """
    if len(masks) < least:
        return 0
    everyone = 0
    for mask in masks:
        everyone |= mask
    start = (1 << (least - 1).bit_length()) - least
    return carried(masks, [everyone if start >> place & 1 else 0 for place in range((least - 1).bit_length())])


def carried(masks: Sequence[int], planes: list[int]) -> int:
    """The bits whose counter is carried out of the last plane by the masks. `planes`, where they start, is used up."""
    over = 0
    for carry in masks:
        for place, plane in enumerate(planes):
            planes[place] = plane ^ carry
            carry &= plane
            if not carry:
                break
        over |= carry
    return over


def numbers_in(mask: int) -> Iterator[int]:
    """The positions of the set bits, rising."""
    digits = bin(mask)[:1:-1]
    at = digits.find("1")
    while at >= 0:
        yield at
        at = digits.find("1", at + 1)


def _bits(numbers: Sequence[int], size: int) -> int:
    if len(numbers) <= FEW:
        return sum(1 << number for number in numbers)
    whole = bytearray((size >> 3) + 1)
    for number in numbers:
        whole[number >> 3] |= 1 << (number & 7)
    return int.from_bytes(whole, "little")
