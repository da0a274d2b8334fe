"""How long calls took, as counts between fixed bounds: rows that can be added up, and quantiles of their sums.

Each bound is about 1.6 times the one before it (the fifth root of ten), so a quantile that is read off them is at most
that much from the true one, in general far less. Quantiles are interpolated as Prometheus' histogram_quantile does.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

# Milliseconds. The last count is of what took longer than the last bound.
BOUNDS = (1, 2, 3, 4, 6, 10, 16, 25, 40, 63, 100, 158, 251, 398, 631, 1_000, 1_585, 2_512, 3_981, 6_310, 10_000)
SIZE = len(BOUNDS) + 1


def none() -> list[int]:
    """No call yet."""
    return [0] * SIZE


def place(milliseconds: int) -> int:
    """Which count a duration belongs to."""
    return next((number for number, bound in enumerate(BOUNDS) if milliseconds <= bound), SIZE - 1)


def added(counts: Sequence[int], more: Sequence[int]) -> list[int]:
    """Two rows of counts in one. Raises ValueError for rows of another form."""
    if len(counts) != SIZE or len(more) != SIZE:
        raise ValueError(f"A row of durations has {SIZE} counts.")
    return [one + other for one, other in zip(counts, more, strict=True)]


def quantile(counts: Sequence[int], share: float) -> int | None:
    """About how many milliseconds this share of the calls took at most; None without calls.

    What took longer than the last bound counts as the last bound.
    """
    wanted, passed = sum(counts) * share, 0
    if not wanted:
        return None
    for (low, high), count in zip(pairwise((0, *BOUNDS)), counts, strict=False):
        if count and passed + count >= wanted:
            return round(low + (high - low) * (wanted - passed) / count)
        passed += count
    return BOUNDS[-1]
