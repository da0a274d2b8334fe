"""Every cell of a policy decided by the reducer itself, and what two policies decide differently.

Options, confidence bands and the intervals between thresholds are finite, so all are tried; what is missing or
malformed is no cell, because it is asked about before any rule.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from gate.admission.cells import Labeled, answers_of
from gate.admission.program import OTHERWISE, VERDICTS, Condition, Program, Question, Verdict
from gate.admission.reducer import Decision, decide

MOST_CELLS = 250_000


@dataclass(frozen=True)
class Axis:
    """The cells of one question, and the policies that read it; where it asks something else it is another one."""

    name: str
    in_old: bool
    in_new: bool
    cells: tuple[Labeled, ...]


class TooManyCells(Exception):
    """More cells than are tried. The sentence says how many."""


@dataclass(frozen=True)
class Checked:
    """What a policy decides over all of its cells."""

    cells: int
    verdicts: dict[str, int]
    fired: dict[str, int]  # by rule, "otherwise" included; those that never fire have 0

    def as_json(self) -> dict[str, Any]:
        """As it is printed."""
        return {"cells": self.cells, "verdicts": self.verdicts, "fired": self.fired}


@dataclass(frozen=True)
class Changed:
    """One cell that two policies decide differently."""

    cell: dict[str, str]  # by question, what the answer is
    was: Decision
    becomes: Decision

    def as_json(self) -> dict[str, Any]:
        """As it is printed."""
        return {
            "cell": self.cell, "was": self.was.verdict, "was_rule": self.was.rule,
            "becomes": self.becomes.verdict, "becomes_rule": self.becomes.rule,
        }  # fmt: skip


@dataclass(frozen=True)
class Compared:
    """Two policies over the cells of both."""

    cells: int
    changed: tuple[Changed, ...]

    def newly(self, verdict: Verdict) -> list[Changed]:
        """The cells that become this verdict, and were another."""
        return [one for one in self.changed if one.becomes.verdict == verdict]


def check(program: Program, *, most: int = MOST_CELLS) -> Checked:
    """Decide every cell. Raises TooManyCells."""
    axes = _axes(program, program)
    verdicts: dict[str, int] = dict.fromkeys(VERDICTS, 0)
    fired = dict.fromkeys([*(rule.id for rule in program.rules), OTHERWISE], 0)
    for cell in _cells(axes, most):
        decision = decide(program, {axis.name: answer for axis, (_, answer) in zip(axes, cell, strict=True)})
        verdicts[decision.verdict] += 1
        if decision.rule is not None:
            fired[decision.rule] += 1
    return Checked(size(axes), verdicts, fired)


def compare(old: Program, new: Program, *, most: int = MOST_CELLS) -> Compared:
    """Every cell of both that is decided differently. Raises TooManyCells."""
    axes = _axes(old, new)
    changed = []
    for cell in _cells(axes, most):
        placed = list(zip(axes, cell, strict=True))
        was = decide(old, {axis.name: answer for axis, (_, answer) in placed if axis.in_old})
        becomes = decide(new, {axis.name: answer for axis, (_, answer) in placed if axis.in_new})
        if was.verdict != becomes.verdict:
            changed.append(Changed(_labels(placed), was, becomes))
    return Compared(size(axes), tuple(changed))


def size(axes: Sequence[Axis]) -> int:
    """How many cells there are."""
    return math.prod(len(axis.cells) for axis in axes)


def _cells(axes: Sequence[Axis], most: int) -> Iterator[tuple[Labeled, ...]]:
    if size(axes) > most:
        raise TooManyCells(f"There are {size(axes):,} cells, more than the {most:,} that are tried.")
    return product(*(axis.cells for axis in axes))


def _axes(old: Program, new: Program) -> list[Axis]:
    pairs = [(_twin(one, old.questions), one) for one in new.questions]
    gone = [(one, None) for one in old.questions if _twin(one, new.questions) is None]
    conditions = [one for program in (old, new) for rule in program.rules for one in rule.when]
    return [_axis(was, now, conditions) for was, now in (*pairs, *gone)]


def _axis(was: Question | None, now: Question | None, conditions: Sequence[Condition]) -> Axis:
    asked = [one for one in (was, now) if one is not None]
    return Axis(asked[0].id, was is not None, now is not None, tuple(answers_of(asked, conditions)))


def _twin(one: Question, others: Sequence[Question]) -> Question | None:
    """The question to which an answer to this one is an answer. Its options and thresholds may differ."""
    same = ("id", "type", "by", "text", "levels")
    return next((each for each in others if all(getattr(each, key) == getattr(one, key) for key in same)), None)


def _labels(placed: Sequence[tuple[Axis, Labeled]]) -> dict[str, str]:
    """The answers of a cell by question; one that only one policy asks says which, where both have its id."""
    labels: dict[str, str] = {}
    for axis, (label, _) in placed:
        is_both = axis.in_old and axis.in_new
        name = axis.name if is_both else f"{axis.name} ({'old' if axis.in_old else 'new'})"
        labels[name] = label
    return labels
