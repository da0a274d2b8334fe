"""What each value of an answer rests on, as pages show it: marks in the text, and a table. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from audit.models import Entry
from evidence.survival.grounding import DERIVED, QUESTION, SUPPORTED, UNSUPPORTED
from evidence.survival.json_leaves import leaves_of
from evidence.survival.lighting import Segment, Span, segments
from gate.triage.survival_lanes import columns_of
from gate.triage.survival_steps import Run

MOST_ROWS = 200


class Mark(NamedTuple):
    """How a value is shown by what it rests on."""

    glyph: str
    css: str
    words: str


MARKS = {
    SUPPORTED: Mark("✓", "state--ok", "in evidence"),
    DERIVED: Mark("≈", "state--wait", "derived"),
    QUESTION: Mark("○", "", "from the question"),
    UNSUPPORTED: Mark("!", "state--bad", "in no evidence"),
}
HOW = {"unit": "in another unit", "rounding": "rounded as written", "percent": "as a share", "sum": "added up"}
BETWEEN = {"percent": " of ", "sum": " + "}


@dataclass(frozen=True)
class Place:
    """Where a value stands: the words there, the field that they stand in, the entry or the step."""

    text: str
    path: str
    entry: Entry | None
    column: int  # the number of its step
    is_briefing: bool


@dataclass(frozen=True)
class Ground:
    """One value of a text."""

    text: str
    status: str
    how: str
    places: Sequence[Place]
    joined: str

    @property
    def mark(self) -> Mark:
        """How it is shown."""
        return MARKS[self.status]

    @property
    def is_bare(self) -> bool:
        """Whether nothing that was read, and not the question either, says it."""
        return self.status == UNSUPPORTED


@dataclass
class Grounds:
    """The values of a text with what they rest on."""

    text: str
    grounding: Mapping[str, Any]
    run: Run
    _leaves: dict[int, Sequence[tuple[int, str]]] = field(default_factory=dict)

    @property
    def rows(self) -> Sequence[Ground]:
        """Each value once, those in no evidence first."""
        once = {(fact["text"], fact["status"]): fact for fact in reversed(self.grounding["facts"])}
        order = sorted(once.values(), key=lambda fact: (fact["status"] != UNSUPPORTED, fact["start"]))
        return [self._ground(fact) for fact in order[:MOST_ROWS]]

    @property
    def tally(self) -> str:
        """How many values there are, and what they rest on, in one line."""
        counts = self.grounding["counts"]
        told = [f"{counts[status]:,} {mark.words}" for status, mark in MARKS.items() if counts[status]]
        total = sum(counts.values())
        return f"{total:,} {'value' if total == 1 else 'values'}: {', '.join(told)}" if told else "No value in it"

    @property
    def bare(self) -> int:
        """How many values stand in no evidence."""
        return int(self.grounding["counts"][UNSUPPORTED])

    @property
    def marked(self) -> Sequence[Segment]:
        """The text, its values lit, each with its status."""
        spans = [(Span(fact["start"], fact["end"]), fact["status"]) for fact in self.grounding["facts"]]
        return segments(self.text, spans)

    @property
    def limits(self) -> Sequence[str]:
        """What was too much to be looked at: a value that rests on it alone counts as in no evidence."""
        said = []
        if self.grounding["cut_at"] is not None:
            cut_at = self.grounding["cut_at"]
            said.append(f"From character {cut_at:,} on, nothing was looked at: there are too many values.")
        if self.grounding["unread"]:
            said.append(f"{len(self.grounding['unread']):,} results were too long to be looked at whole.")
        if self.grounding["derivations_cut"]:
            said.append("Not every sum and share was tried: there are too many numbers.")
        return said

    def _ground(self, fact: Mapping[str, Any]) -> Ground:
        places = [self._place(one) for one in fact["rests_on"]]
        how = fact["how"] or ""
        return Ground(fact["text"], fact["status"], HOW.get(how, ""), places, BETWEEN.get(how, ", "))

    def _place(self, rests_on: Mapping[str, Any]) -> Place:
        step = int(rests_on["ref"].removeprefix("step "))
        is_briefing = step == 0 and self.run.steps[0]["type"] == "user"
        path = self._path(step, rests_on["start"])
        return Place(rests_on["text"], path, self.run.entries[step], self._numbers[step], is_briefing)

    @cached_property
    def _numbers(self) -> Mapping[int, int]:
        """Each step's number, as the lanes count."""
        return {step: column.number for column in columns_of(self.run.steps) for step in column.steps}

    def _path(self, step: int, at: int) -> str:
        """The field that a place in a step's text stands in; empty where the text is no JSON."""
        if step not in self._leaves:
            leaves = leaves_of(self.run.steps[step]["content"]) or ()
            self._leaves[step] = [(leaf.start, leaf.pointer) for leaf in leaves]
        order = self._leaves[step]
        found = bisect_right(order, at, key=lambda leaf: leaf[0]) - 1
        return order[found][1].lstrip("/").replace("/", ".") if found >= 0 else ""


def of_answer(run: Run, report: Mapping[str, Any]) -> Grounds | None:
    """The last answer of a run; None where there is none."""
    grounding = report["grounding"]
    answer = next((step for step in reversed(run.steps) if step["type"] == "assistant"), None)
    return Grounds(answer["content"], grounding, run) if grounding is not None and answer is not None else None
