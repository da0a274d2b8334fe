"""The percentages and sums that numbers of one place make: named derivations, and no others."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import combinations, permutations
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evidence.survival.known import Operand

SUMMANDS = 5
TOGETHER = 8  # among more numbers of a kind, only neighbors are added up
MOST_PAIRS = 500_000
MOST_SUMS = 500_000
CLOSE = 1e-9

Group = Mapping[Any, Sequence["Operand"]]


class Derived:
    """Made once, when the first fact of an answer stands nowhere as it is."""

    def __init__(self, together: Group, alike: Group) -> None:
        """`together` are numbers of one object or line, `alike` those of one field or unit."""
        self._together = together
        self._alike = alike
        self.is_cut = False  # there were more pairs or sums than are kept

    def shares_near(self, share: float, step: float) -> Iterator[tuple[Operand, Operand]]:
        """The pairs of which one is about this share of the other."""
        shares, pairs = self._shares
        begin = bisect_left(shares, share - step / 2 - CLOSE)
        yield from pairs[begin : bisect_right(shares, share + step / 2 + CLOSE)]

    @cached_property
    def sums(self) -> Mapping[tuple[Fraction, str], tuple[Operand, ...]]:
        """Each sum of two to five of a kind, with its dimension."""
        found: dict[tuple[Fraction, str], tuple[Operand, ...]] = {}
        for operands in self._alike.values():
            for some in _some(operands):
                amount = sum((one.atom.number or Fraction(0) for one in some), Fraction(0))
                found.setdefault((amount, some[0].atom.dimension), some)
            if len(found) > MOST_SUMS:
                self.is_cut = True
                break
        return found

    @cached_property
    def _shares(self) -> tuple[list[float], list[tuple[Operand, Operand]]]:
        found: list[tuple[float, int]] = []
        pairs: list[tuple[Operand, Operand]] = []
        for operands in self._together.values():
            for part, whole in permutations(operands[: 2 * TOGETHER], 2):
                if _is_part(part, whole):
                    found.append((float(part.atom.number or 0) / float(whole.atom.number or 1), len(pairs)))
                    pairs.append((part, whole))
            if len(pairs) > MOST_PAIRS:
                self.is_cut = True
                break
        found.sort()
        return [share for share, _ in found], [pairs[at] for _, at in found]


def _is_part(part: Operand, whole: Operand) -> bool:
    one, other = part.atom, whole.atom
    if not one.number or not other.number or one.dimension != other.dimension or one.dimension == "share":
        return False
    return one.number < other.number


def _some(operands: Sequence[Operand]) -> Iterator[tuple[Operand, ...]]:
    for size in range(2, SUMMANDS + 1):
        if len(operands) <= TOGETHER:
            yield from combinations(operands, size)
        else:
            yield from (tuple(operands[at : at + size]) for at in range(len(operands) - size + 1))
