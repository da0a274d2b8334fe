"""The finitely many kinds of answer that a question has: its options, and the intervals between thresholds.

Two answers of one cell are the same to every rule, so one of them stands for all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from gate.admission.answers import read
from gate.admission.canonical import number_text
from gate.admission.program import NUMBER_OPS, Condition, Question, Value


class Cell(NamedTuple):
    """One kind of answer: how it is called, what stands for it, and what a rule sees of it."""

    label: str
    answer: dict[str, Any]
    value: Value
    is_unsure: bool


Labeled = tuple[str, dict[str, Any]]


def cells_of(question: Question, conditions: Iterable[Condition]) -> tuple[Cell, ...]:
    """Every cell of a question, as these conditions cut it."""
    return tuple(_cell(question, label, answer) for label, answer in answers_of([question], conditions))


def _cell(question: Question, label: str, answer: dict[str, Any]) -> Cell:
    said = read(question, answer)
    assert said.value is not None  # only whole answers are made here
    return Cell(label, answer, said.value, said.is_unsure)


def answers_of(asked: Sequence[Question], conditions: Iterable[Condition]) -> Iterator[Labeled]:
    """A label and an answer per cell of one question, as it is asked in one policy or in several."""
    question = asked[0]
    if question.type == "enum":
        names = dict.fromkeys(name for one in asked for name in one.options)
        said: list[Labeled] = [(name, {"value": name}) for name in names]
    else:
        key = "p" if question.type == "yesno" else "level"
        mine = [one for one in conditions if one.q == question.id]
        said = [(label, {key: number}) for label, number in _intervals(asked, mine)]
    for label, answer in said:
        yield from _bands(asked, label, answer)


def _bands(asked: Sequence[Question], label: str, answer: dict[str, Any]) -> Iterator[Labeled]:
    """One answer in each band of confidence that a threshold makes."""
    if asked[0].by == "probe":
        yield label, {**answer, "by": "probe"}
    elif asked[0].type == "yesno":
        yield label, answer
    else:
        for said, confidence in _confidences(asked):
            yield f"{label}{said}", {**answer, "confidence": confidence}


def _confidences(asked: Sequence[Question]) -> Iterator[tuple[str, float]]:
    least = sorted({one.min_confidence for one in asked if one.min_confidence}, reverse=True)
    yield "", 1
    if len(least) == 1:
        yield ", unsure", 0
        return
    for above, below in pairwise([*least, 0] if least else []):
        yield f", confidence {number_text(below)} to below {number_text(above)}", below


def _intervals(asked: Sequence[Question], conditions: Sequence[Condition]) -> Iterator[tuple[str, float]]:
    """The runs of numbers that no threshold parts, each with a number in it."""
    points = _thresholds(asked, conditions)
    marks = _landmarks(points)
    start = 0
    for end in range(1, len(marks) + 1):
        if end < len(marks) and _seen(asked, conditions, marks[end]) == _seen(asked, conditions, marks[start]):
            continue
        yield _label(marks, start, end - 1, points), marks[(start + end - 1) // 2]
        start = end


def _thresholds(asked: Sequence[Question], conditions: Sequence[Condition]) -> set[float]:
    """Every number at which something can change, and both ends."""
    points = {0.0, float(asked[0].highest)}
    points |= {float(end) for one in asked for end in one.unsure_between or ()}
    return points | {
        float(one.value) for one in conditions if one.op in NUMBER_OPS and isinstance(one.value, int | float)
    }


def _landmarks(points: set[float]) -> list[float]:
    """The thresholds, and one number between each two."""
    known = sorted(points)
    return sorted(points | {(low + high) / 2 for low, high in pairwise(known)})


def _seen(asked: Sequence[Question], conditions: Sequence[Condition], number: float) -> tuple[bool, ...]:
    """What the policies see of a number: on which side of each threshold it is."""
    unsure = [band[0] < number < band[1] for band in (one.unsure_between for one in asked) if band is not None]
    sides = (one.holds(number, False) for one in conditions if one.op in NUMBER_OPS)
    return (*unsure, *sides)


def _label(marks: Sequence[float], first: int, last: int, points: set[float]) -> str:
    """From where to where, and whether the ends belong to it."""
    low, high = marks[first], marks[last]
    if first == last and low in points:
        return number_text(low)
    start = number_text(low) if low in points else f"over {number_text(marks[first - 1])}"
    end = number_text(high) if high in points else f"below {number_text(marks[last + 1])}"
    return f"{start} to {end}"
