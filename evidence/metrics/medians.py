"""Medians of times of which some are not over yet, each with the interval that it is known within. Pure.

To leave out what is still open would flatter the number, for what takes long is open the longest. So each such time
counts for as long as it is known to have lasted (the product-limit estimate; E. L. Kaplan and P. Meier, 1958), and the
median is the first time by which half of all would be over. Its interval at 95 % is where that estimate, with M.
Greenwood's variance, may be a half (R. Brookmeyer and J. Crowley, Biometrics 38, 1982). A bootstrap draws and answers
otherwise each time; here nothing is drawn, so the same rows give the same interval.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby

from evidence.metrics import columns
from evidence.metrics.exact import NORMAL_95
from evidence.metrics.rows import Line

ROOT = 10**40  # numbers between whole ones are counted in its parts, rounded so that no interval becomes too narrow
BOUND = NORMAL_95 * NORMAL_95


@dataclass(frozen=True)
class Spell:
    """How long something took, or has lasted so far."""

    length: Fraction
    is_over: bool


@dataclass(frozen=True)
class Median:
    """The median of one stage, or of all of them together; None where half is not over within what was seen."""

    of: str | None
    entities: int
    still_open: int
    median: Fraction | None
    low: Fraction | None
    high: Fraction | None


def of_stages(entities: Iterable[Sequence[Line]], stages: Sequence[str]) -> tuple[Median, ...]:
    """The median of the whole time, then that of each stage, of those that came to it. Raises Unreadable."""
    spells: dict[str | None, list[Spell]] = {None: [], **{stage: [] for stage in stages}}
    for lines in entities:
        for stage, spell in _spells(lines):
            if stage in spells:
                spells[stage].append(spell)
    return tuple(median(stage, found) for stage, found in spells.items())


def _spells(lines: Sequence[Line]) -> Iterator[tuple[str | None, Spell]]:
    """Of one entity: the whole, and each of its stages. Of an open one the stage that is last is not over."""
    is_open = any(line.flag(columns.IS_OPEN, False) for line in lines)
    finishes = lines[0].number_of(columns.FINISHES)
    yield None, Spell(finishes - lines[0].number_of(columns.BEGINS), not is_open)
    for line in lines:
        starts, ends = line.number_of(columns.STARTS), line.number_of(columns.ENDS)
        yield line.text(columns.KIND), Spell(ends - starts, not (is_open and ends == finishes))


def median(of: str | None, spells: Sequence[Spell]) -> Median:
    """The median of these times."""
    reached: dict[str, Fraction] = {}
    for length, curves in _reached(spells):
        for curve in curves:
            reached.setdefault(curve, length)
    still_open = sum(not spell.is_over for spell in spells)
    return Median(of, len(spells), still_open, reached.get("middle"), reached.get("low"), reached.get("high"))


def _reached(spells: Sequence[Spell]) -> Iterator[tuple[Fraction, Sequence[str]]]:
    """At each time at which something was over: which of the estimate and its two limits are at a half, or below."""
    left, whole, variance = 1, 1, 0  # the share that is not over is left / whole, and never rounded
    for length, ended, at_risk in _steps(spells):
        left, whole = left * (at_risk - ended), whole * at_risk
        if not left:
            yield length, ["low", "middle", "high"]
            return
        variance += -(-ended * ROOT * ROOT // (at_risk * (at_risk - ended)))
        is_half = 2 * left <= whole
        away = abs(2 * left - whole) * ROOT // (2 * left)
        is_within = away * away <= BOUND * variance
        if is_half:
            yield length, ["low", "middle"] if is_within else ["low", "middle", "high"]
        elif is_within:
            yield length, ["low"]


def _steps(spells: Sequence[Spell]) -> Iterator[tuple[Fraction, int, int]]:
    """Each time at which some were over, with how many, and how many had lasted until then."""
    at_risk = len(spells)
    ordered = sorted(spells, key=lambda spell: spell.length)
    for length, group in groupby(ordered, key=lambda spell: spell.length):
        at_once = list(group)
        ended = sum(spell.is_over for spell in at_once)
        if ended:
            yield length, ended, at_risk
        at_risk -= len(at_once)
