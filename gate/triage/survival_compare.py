"""One result beside one later text, both lit where they say the same. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from audit.models import Entry
from evidence.survival.fields import sha256_of
from evidence.survival.lighting import Segment, Span, lit, merged, segments
from gate.triage.survival_lanes import Lanes
from gate.triage.survival_steps import Run

LONG = 12_000  # characters; of a longer text, what is lit is shown with some of what stands around it
AROUND = 400
MOST_LIT = 300  # pieces


@dataclass(frozen=True)
class Side:
    """One of the two texts: its parts, and the hash that its offsets are bound to."""

    sha256: str
    segments: Sequence[Segment]
    lit: int


@dataclass(frozen=True)
class Compared:
    """The two texts, what is met in which of them, and the other texts that could stand there."""

    step: int
    name: str
    column: int
    entry: Entry | None
    units: int
    met: int
    sink: int | None
    sink_label: str
    is_answer: bool
    left: Side
    right: Side | None
    choices: Sequence[tuple[int, str]]
    left_out: int  # pieces that are met and not lit: they are too many
    is_other_text: bool  # the report is about another text than this one, so nothing is lit


def compared(run: Run, lanes: Lanes, record: Mapping[str, Any], sink: int | None) -> Compared:
    """A result with the asked text, or with the answer, or with the first text in which it is met."""
    step, met = record["step"], [one["step"] for one in record["met"]]
    sink = sink if sink is not None and step < sink < len(run.steps) else _chosen(met, lanes.answer, step)
    text = run.steps[step]["content"]
    is_other = sha256_of(text) != record["sha256"]
    matches = [] if is_other or sink is None else _between(record["matches"], sink)
    other = run.steps[sink]["content"] if sink is not None else ""
    here, there = _lit(text, other, matches[:MOST_LIT])
    return Compared(
        step, str(record["tool"] or record["source"] or "result"), lanes.of_step[step].number, run.entries[step],
        record["pieces"], len(matches), sink, _label(lanes, sink), sink is not None and sink == lanes.answer,
        _side(text, here), _side(other, there) if sink is not None else None,
        [(one, _label(lanes, one)) for one in met if one != sink][:30], max(0, len(matches) - MOST_LIT), is_other,
    )  # fmt: skip


def _chosen(met: Sequence[int], answer: int | None, step: int) -> int | None:
    if answer is not None and answer > step and (answer in met or not met):
        return answer
    return met[0] if met else None


def _between(matches: Sequence[Mapping[str, Any]], sink: int) -> list[tuple[Span, Span, str]]:
    return [
        (Span(piece["start"], piece["end"]), Span(later["start"], later["end"]), piece["path"] or "")
        for piece in matches
        if (later := next((one for one in piece["later"] if one["step"] == sink), None)) is not None
    ]


def _lit(text: str, other: str, matches: Sequence[tuple[Span, Span, str]]) -> tuple[list[Span], list[Span]]:
    here: list[Span] = []
    there: list[Span] = []
    for one, two, path in matches:
        left, right = lit(text, one, other, two, path.rpartition("/")[2] or None)
        here += left
        there += right
    return merged(here, text), merged(there, other)


def _side(text: str, spans: Sequence[Span]) -> Side:
    around = AROUND if len(text) > LONG else None
    return Side(sha256_of(text), segments(text, [(span, "") for span in spans], around), len(spans))


def _label(lanes: Lanes, step: int | None) -> str:
    if step is None:
        return ""
    column = lanes.of_step[step]
    return "the answer" if step == lanes.answer else f"step {column.number}, {column.label}"
