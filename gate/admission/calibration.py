"""How often answers were right, by how sure they said they were: what a threshold rests on. Pure.

Intervals: E. B. Wilson, Probable inference, the law of succession, and statistical inference (1927), which holds for
few answers too (Brown, Cai and DasGupta, Interval estimation for a binomial proportion, 2001). The threshold's own
uncertainty: the percentile bootstrap of B. Efron and R. Tibshirani, An introduction to the bootstrap (1993), ch. 13.
"""

from __future__ import annotations

import math
import random
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from gate.admission import answers as answering
from gate.admission.program import Question

Z = 1.959963984540054  # 95 % of a normal distribution lie within
TARGET = 0.9  # a threshold is suggested where at least so many answers are right, by the interval's lower end
BINS = 10
EDGES = [number / BINS for number in range(BINS + 1)]
RESAMPLES = 200
TAIL = 0.05  # of the resamples on each side of the interval
SEED = 20_261_130  # the same labels give the same page


@dataclass(frozen=True)
class Interval:
    """From where to where a share may lie, given how few were counted."""

    low: float
    high: float


@dataclass(frozen=True)
class Sample:
    """One answer that somebody knows the truth of."""

    said: float  # the probability of yes, or the confidence in a value
    was: bool  # that it was so; of a value, that it was right
    confidence: float  # in what it came down to: of a yes or no, the larger side
    is_right: bool
    is_sure: bool  # by the question's own threshold


@dataclass(frozen=True)
class Share:
    """How many of how many, and what that says."""

    right: int
    n: int

    @property
    def value(self) -> float:
        """The share itself. Raises ZeroDivisionError for none of none."""
        return self.right / self.n

    @property
    def interval(self) -> Interval:
        return wilson(self.right, self.n)


@dataclass(frozen=True)
class Bin:
    """The answers that said about the same: how sure on average, and how often it was so."""

    low: float
    high: float
    said: float
    share: Share


@dataclass(frozen=True)
class Suggestion:
    """The lowest threshold above which enough answers were right, and how far it moves with other answers."""

    threshold: float | None  # None when no threshold does: too few answers, or too many wrong ones
    interval: Interval | None  # 90 % of the resamples that have one; None when none has
    found: float  # the share of resamples that have one


def wilson(right: int, n: int, z: float = Z) -> Interval:
    """The score interval of a share. Of none of none it is everything."""
    if n == 0:
        return Interval(0.0, 1.0)
    share, square = right / n, z * z
    middle = (share + square / (2 * n)) / (1 + square / n)
    half = z / (1 + square / n) * math.sqrt(share * (1 - share) / n + square / (4 * n * n))
    # At both ends the formula is exact but for the last digits of a float.
    return Interval(0.0 if right == 0 else max(0.0, middle - half), 1.0 if right == n else min(1.0, middle + half))


def sample(question: Question, answer: Any, is_right: bool) -> Sample | None:
    """What a label says of an answer; None for one that says nothing: no answer, or exactly half of a yes or no."""
    read = answering.read(question, answer)
    if read.value is None or question.by != "model":
        return None
    if question.type != "yesno":
        sure = float(answer["confidence"])
        return Sample(sure, is_right, sure, is_right, not read.is_unsure)
    p = float(read.value)
    if p == 0.5:
        return None
    return Sample(p, is_right == (p > 0.5), max(p, 1 - p), is_right, not read.is_unsure)


def at_threshold(samples: Iterable[Sample]) -> Share:
    """How often the answers were right that the question's own threshold lets through."""
    sure = [one.is_right for one in samples if one.is_sure]
    return Share(sum(sure), len(sure))


def bins(samples: Iterable[Sample]) -> list[Bin]:
    """The answers by how sure they said they were, in equal steps; steps without an answer are left out."""
    ordered = sorted(samples, key=lambda one: one.said)
    return [_bin(number, list(found)) for number, found in groupby(ordered, key=lambda one: _place(one.said))]


def _place(said: float) -> int:
    """The number of its step. Compared and not computed: 0.29999999999999998 times ten is three."""
    return min(BINS, bisect_right(EDGES, said)) - 1


def _bin(number: int, found: Sequence[Sample]) -> Bin:
    # Between the least and the most, which a sum of floats over its number may miss by a digit.
    said = min(max(math.fsum(one.said for one in found) / len(found), found[0].said), found[-1].said)
    return Bin(EDGES[number], EDGES[number + 1], said, Share(sum(one.was for one in found), len(found)))


def suggest(samples: Sequence[Sample], target: float = TARGET) -> Suggestion:
    """The lowest threshold above which the answers were right often enough, even if luck had helped.

    For a yes or no it is a confidence too: the answer is unsure between one minus it and it.
    """
    pairs = [(one.confidence, one.is_right) for one in samples]
    drawn = random.Random(SEED)  # noqa: S311
    resampled = [_lowest(drawn.choices(pairs, k=len(pairs)), target) for _ in range(RESAMPLES)] if pairs else []
    found = sorted(one for one in resampled if one is not None)
    return Suggestion(_lowest(pairs, target), _middle(found), len(found) / RESAMPLES)


def _middle(found: Sequence[float]) -> Interval | None:
    if not found:
        return None
    cut = int(TAIL * len(found))
    return Interval(found[cut], found[len(found) - 1 - cut])


def _lowest(pairs: Sequence[tuple[float, bool]], target: float) -> float | None:
    """The lowest confidence from which on the interval of the right ones stays above the target."""
    lowest, right, n = None, 0, 0
    ordered = sorted(pairs, key=lambda one: -one[0])
    for confidence, same in groupby(ordered, key=lambda one: one[0]):
        for _, is_right in same:
            n += 1
            right += is_right
        if wilson(right, n).low >= target:
            lowest = confidence
    return lowest
