"""The lanes of a run: one row for each result, one column for each step, and what is still seen of it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from audit.models import Entry
from evidence.survival.fields import EVIDENCE
from gate.triage import curves
from gate.triage.survival_steps import Run

ROWS = 20  # results of one page
MOST_COLUMNS = 40
WIDE = 14  # columns; more need more room
POINTS = 24  # of a curve
LABELS = {"user": "brief", "system": "system", "reasoning": "think", "assistant": "said", "tool_call": "call",
          "tool_result": "result", "retrieval": "read"}  # fmt: skip
BORN, ARGS, SEEN = "born", "args", "seen"
WORDS = {BORN: "units read", ARGS: "used in arguments", SEEN: "seen in thought"}


@dataclass(frozen=True)
class Column:
    """A step, or a call with the result that follows it."""

    number: int
    label: str
    steps: tuple[int, ...]


@dataclass(frozen=True)
class Cell:
    """What of a result is met in a column."""

    kind: str = ""
    count: int = 0
    is_run: bool = False  # a line runs through it: the result was read before and is met later
    is_last: bool = False

    @property
    def css(self) -> str:
        classes = (self.kind, "run" if self.is_run else "", "last" if self.is_last else "")
        return " ".join(filter(None, classes))

    @property
    def words(self) -> str:
        return WORDS.get(self.kind, "")


@dataclass(frozen=True)
class Curve:
    """The share of a result's units that is still met, as points of a picture and as figures."""

    points: Sequence[tuple[int, int]]  # number of the column, percent

    @property
    def line(self) -> str:
        """Points for a polyline of 72 by 18."""
        return curves.polyline(self.points)

    @property
    def words(self) -> str:
        return ", ".join(f"{share} %" for _, share in self.points)


@dataclass(frozen=True)
class Lane:
    """One result."""

    step: int
    name: str
    column: int
    entry: Entry | None
    units: int
    in_answer: int
    is_acknowledgement: bool
    is_unread: bool  # it was too long to be looked at whole
    cells: Sequence[Cell]
    curve: Curve | None
    is_picked: bool


class Lanes:
    """A window of the results, with the columns that say something about them."""

    def __init__(self, run: Run, finer: Mapping[str, Any], *, first: int, picked: int | None) -> None:
        self.columns = columns_of(run.steps)
        self.of_step = {step: column for column in self.columns for step in column.steps}
        self.answer = next((at for at in reversed(range(len(run.steps))) if run.steps[at]["type"] == "assistant"), None)
        self._run = run
        self._unread = {one["step"] for one in finer["unread"]}
        self.records = finer["evidence"]
        self.first = min(first, max(0, len(self.records) - 1))
        self.window = self.records[self.first : self.first + ROWS]
        self.shown = self._shown()
        self.lanes = [self._lane(record, record["step"] == picked) for record in self.window]

    @property
    def earlier(self) -> int | None:
        """Where the window before this one begins."""
        return max(0, self.first - ROWS) if self.first else None

    @property
    def later(self) -> int | None:
        """Where the next one begins."""
        end = self.first + ROWS
        return end if end < len(self.records) else None

    @property
    def last(self) -> int:
        return min(self.first + ROWS, len(self.records))

    @property
    def columns_left_out(self) -> int:
        """Columns that say something about these results and find no room."""
        return len(self._telling()) - len(self.shown)

    @property
    def is_wide(self) -> bool:
        return len(self.shown) > WIDE

    def _telling(self) -> dict[int, int]:
        """Columns by number, with how many units are read or met there."""
        found: dict[int, int] = {}
        for record in self.window:
            told = [
                (record["step"], record["pieces"] + 10**6),
                *((one["step"], one["pieces"]) for one in record["met"]),
            ]
            for step, count in told:
                column = self.of_step[step]
                if self.answer not in column.steps:
                    found[column.number] = found.get(column.number, 0) + count
        return found

    def _shown(self) -> list[Column]:
        telling = self._telling()
        if len(self.columns) <= MOST_COLUMNS:
            return [column for column in self.columns if self.answer not in column.steps]
        kept = sorted(telling, key=lambda number: -telling[number])[:MOST_COLUMNS]
        return [self.columns[number - 1] for number in sorted(kept)]

    def _lane(self, record: Mapping[str, Any], is_picked: bool) -> Lane:
        step = record["step"]
        column = self.of_step[step]
        return Lane(
            step, str(record["tool"] or record["source"] or "result"), column.number, self._run.entries[step],
            record["pieces"], record["in_answer"], record["class"] != "pieces", step in self._unread,
            list(self._cells(record, column)), self.curve(record), is_picked,
        )  # fmt: skip

    def _cells(self, record: Mapping[str, Any], born: Column) -> Sequence[Cell]:
        met: dict[int, tuple[str, int]] = {}
        for one in record["met"]:
            kind = ARGS if self._run.steps[one["step"]]["type"] == "tool_call" else SEEN
            number = self.of_step[one["step"]].number
            met[number] = kind, met.get(number, ("", 0))[1] + one["pieces"]
        last = max(met, default=born.number)
        return [self._cell(column, record, born, met, last) for column in self.shown]

    @staticmethod
    def _cell(
        column: Column, record: Mapping[str, Any], born: Column, met: Mapping[int, tuple[str, int]], last: int
    ) -> Cell:
        is_run = born.number <= column.number <= last and last > born.number
        if column.number == born.number:
            return Cell(BORN, record["pieces"], is_run)
        kind, count = met.get(column.number, ("", 0))
        return Cell(kind, count, is_run, is_run and column.number == last)

    def curve(self, record: Mapping[str, Any]) -> Curve | None:
        """What is still seen of a result; None where nothing could be seen again."""
        if not record["decay"]:
            return None
        born = self.of_step[record["step"]].number
        points = [(self.of_step[one["step"]].number, round(100 * one["alive"])) for one in record["decay"]]
        if record["decay"][-1]["step"] != self.answer and self.answer is not None and self.answer > record["step"]:
            # The last answer stands in the picture, though nothing falls there.
            points.append((self.of_step[self.answer].number, points[-1][1]))
        every = max(1, len(points) // POINTS)
        return Curve([(born, 100), *points[:-1:every], points[-1]])


def columns_of(steps: Sequence[Mapping[str, Any]]) -> list[Column]:
    """The steps as columns: a call and the result right after it are one."""
    found: list[Column] = []
    for at, step in enumerate(steps):
        follows = found and len(found[-1].steps) == 1 and _answers(steps[found[-1].steps[0]], step)
        if follows:
            found[-1] = Column(found[-1].number, LABELS["tool_call"], (*found[-1].steps, at))
        else:
            found.append(Column(len(found) + 1, LABELS[step["type"]], (at,)))
    return found


def _answers(call: Mapping[str, Any], step: Mapping[str, Any]) -> bool:
    is_call = call["type"] == "tool_call" and step["type"] in EVIDENCE
    return is_call and call.get("tool") == step.get("tool")


def falls(curve: Curve) -> Sequence[tuple[int, int, int]]:
    """Where a curve changes: the column, the share before and after."""
    return [(after[0], before[1], after[1]) for before, after in pairwise(curve.points) if before[1] != after[1]]
