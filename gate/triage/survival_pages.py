"""What became of what an agent read, as its page shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from evidence.survival.fields import EVIDENCE, LIMITATION
from evidence.survival.grounding import ASKED, ground
from evidence.survival.known import Source
from gate.triage import answers, survival_compare, survival_grounds, survival_reports
from gate.triage.models import Draft, Investigation
from gate.triage.rule_models import OPEN
from gate.triage.survival_compare import Compared
from gate.triage.survival_grounds import Grounds
from gate.triage.survival_lanes import Lanes, falls
from gate.triage.trace_models import Trace

FINER, COMPATIBLE = "finer", "compatible"
OF_LOG = "log"
MOST_QUIET = 20
MOST_COMPATIBLE = 200
MOST_LISTED = 500


@dataclass(frozen=True)
class Asked:
    """What of a run is looked at, as the address says it."""

    trace: str = ""
    measure: str = FINER
    row: int | None = None
    sink: int | None = None
    first: int = 0

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Asked:
        """What an address asks for; what is no number or no word of ours asks for nothing."""
        measure = COMPATIBLE if query.get("measure") == COMPATIBLE else FINER
        numbers = (_number(query.get(name, "")) for name in ("row", "with", "from"))
        row, sink, first = numbers
        return cls(query.get("trace", ""), measure, row, sink, first or 0)


@dataclass(frozen=True)
class Hint:
    """A place in the answer and one in a result that are at odds."""

    why: str
    said: str
    read: str
    name: str
    row: int


@dataclass(frozen=True)
class Quiet:
    """A result of which nothing is met."""

    name: str
    row: int
    column: int
    characters: int


@dataclass(frozen=True)
class Repeat:
    """A result that repeats most of an earlier one."""

    name: str
    column: int
    earlier: int
    shared: int
    pieces: int


@dataclass(frozen=True)
class Edited:
    """An answer as a person sent it, with the values that are not the agent's."""

    draft: Draft
    sent: answers.Sent
    grounds: Grounds
    gained: Sequence[survival_grounds.Ground]
    lost: Sequence[str]


class SurvivalPage:
    """One investigation's page: of an uploaded trace, or of what the log has."""

    limitation = LIMITATION

    def __init__(self, investigation: Investigation, asked: Asked) -> None:
        self.investigation = investigation
        self.incident = investigation.incident
        self.asked = asked

    @cached_property
    def traces(self) -> Sequence[Trace]:
        """The uploaded ones, the newest first."""
        columns = ("content", "report")
        found = Trace.objects.filter(investigation=self.investigation).exclude(origin=Trace.Origin.LOG)
        return list(found.defer(*columns).order_by("-pk"))

    @cached_property
    def trace(self) -> Trace | None:
        """The trace that is looked at: the one that was asked for, else the newest that has its text; None: the log."""
        if self.asked.trace == OF_LOG:
            return None
        held = Trace.objects.filter(investigation=self.investigation).exclude(origin=Trace.Origin.LOG)
        if self.asked.trace.isdecimal() and len(self.asked.trace) < 19:
            return held.filter(pk=int(self.asked.trace)).first()
        return held.filter(content__isnull=False).order_by("-pk").first()

    @cached_property
    def measured(self) -> survival_reports.Measured:
        if self.trace is None:
            return survival_reports.of_log(self.investigation)
        return survival_reports.of_trace(self.trace)

    @property
    def report(self) -> Mapping[str, Any] | None:
        return self.measured.report

    @property
    def job(self) -> Trace | None:
        """The row that says how far measuring is, where a worker does it."""
        return self.measured.trace

    @property
    def is_running(self) -> bool:
        return self.report is None and self.job is not None and self.job.status in OPEN

    @property
    def is_finer(self) -> bool:
        return self.asked.measure == FINER

    @property
    def draft(self) -> Draft | None:
        return Draft.objects.filter(investigation=self.investigation).first()

    @property
    def query(self) -> str:
        """What keeps an address on the same trace."""
        return f"trace={self.trace.pk if self.trace is not None else OF_LOG}"

    @property
    def _found(self) -> Mapping[str, Any]:
        """The report, for what the template asks for only once there is one."""
        assert self.report is not None
        return self.report

    @property
    def finer(self) -> Mapping[str, Any]:
        return dict(self._found["finer"])

    @cached_property
    def tally(self) -> Sequence[tuple[str, str]]:
        """The figures on top, each with its words."""
        finer = self.finer
        quiet = sum(record["class"] == "pieces" and not record["in_answer"] for record in finer["evidence"])
        telling = sum(record["class"] == "pieces" for record in finer["evidence"])
        return [
            (f"{finer['pieces']:,}", f"units read from {finer['sources']:,} results"),
            (f"{finer['surviving']:,}", f"seen again later, {_percent(finer['surviving'], finer['pieces'])}"),
            (f"{finer['in_answer']:,}", f"in the answer, {_percent(finer['in_answer'], finer['pieces'])}"),
            (f"{finer['in_actions']:,}", "used in arguments of later calls"),
            (f"{quiet:,} of {telling:,}", "results with no trace in the answer"),
        ]

    @cached_property
    def compatible(self) -> Mapping[str, Any]:
        """The report of the compatible measure, and its first rows."""
        report = self._found["compatible"]
        rows = [
            {**record, "name": record["tool"] or record["source"] or record["source_type"],
             "later": _percent(record["reused_units"], record["evidence_units"]),
             "answer": _percent(record["final_reused_units"], record["evidence_units"])}
            for record in report["evidence"][:MOST_COMPATIBLE]
        ]  # fmt: skip
        return {**report, "rows": rows, "left_out": len(report["evidence"]) - len(rows),
                "later": _percent(report["reused_units"], report["evidence_units"]),
                "answer": _percent(report["final_reused_units"], report["evidence_units"]),
                "groups": len(report["repeated_evidence_groups"])}  # fmt: skip

    @property
    def listed(self) -> Sequence[tuple[Mapping[str, Any], str, int, Any]]:
        """The results as a plain list, with the numbers of their steps as the lanes count, and their entries."""
        steps = [(record, record["step"]) for record in self.finer["evidence"][:MOST_LISTED]]
        return [
            (record, self._name(step), self.lanes.of_step[step].number, self.measured.run.entries[step])
            for record, step in steps
        ]

    @property
    def unlisted(self) -> int:
        """How many results find no room there."""
        return max(0, len(self.finer["evidence"]) - MOST_LISTED)

    @cached_property
    def lanes(self) -> Lanes:
        row = self.record["step"] if self.record is not None else None
        return Lanes(self.measured.run, self.finer, first=self.asked.first, picked=row)

    @cached_property
    def record(self) -> Mapping[str, Any] | None:
        """The result that is compared: the one asked for, else the first of which something stands in the answer."""
        records = self.finer["evidence"]
        asked = next((one for one in records if one["step"] == self.asked.row), None)
        answered = next((one for one in records if one["in_answer"]), None)
        return asked or answered or (records[0] if records else None)

    @cached_property
    def picked(self) -> Compared | None:
        """The two texts side by side."""
        if self.record is None:
            return None
        return survival_compare.compared(self.measured.run, self.lanes, self.record, self.asked.sink)

    @property
    def picked_curve(self) -> Any:
        """What is still seen of the result that is compared."""
        return self.lanes.curve(self.record) if self.record is not None else None

    @property
    def picked_falls(self) -> Sequence[tuple[int, int, int]]:
        return falls(self.picked_curve) if self.picked_curve is not None else []

    @cached_property
    def grounds(self) -> Grounds | None:
        """What each value of the answer rests on."""
        return survival_grounds.of_answer(self.measured.run, self._found)

    @cached_property
    def hints(self) -> Sequence[Hint]:
        """Where the answer may say otherwise than what was read."""
        answer = self.measured.run.steps[self.lanes.answer]["content"] if self.lanes.answer is not None else ""
        return [self._hint(hint, answer) for hint in self._found["hints"]]

    def _hint(self, hint: Mapping[str, Any], answer: str) -> Hint:
        step = self.measured.run.steps[hint["step"]]
        read = step["content"][hint["evidence_start"] : hint["evidence_end"]]
        name = f"{step.get('tool') or step.get('source') or 'result'}, step {self.lanes.of_step[hint['step']].number}"
        return Hint(hint["why"], answer[hint["start"] : hint["end"]][:300], read[:300], name, hint["step"])

    @property
    def quiet(self) -> Sequence[Quiet]:
        """Results of which nothing is met, the largest first."""
        found = self.finer["no_overlap_detected"][:MOST_QUIET]
        return [
            Quiet(self._name(one["step"]), one["step"], self.lanes.of_step[one["step"]].number, one["characters"])
            for one in found
        ]

    @property
    def repeats(self) -> Sequence[Repeat]:
        """Results that repeat most of an earlier one."""
        of_step = self.lanes.of_step
        return [
            Repeat(self._name(one["step"]), of_step[one["step"]].number, of_step[one["earlier"]].number, one["shared"],
                   one["pieces"])
            for one in self._found["repeats"][:MOST_QUIET]
        ]  # fmt: skip

    def _name(self, step: int) -> str:
        told = self.measured.run.steps[step]
        return str(told.get("tool") or told.get("source") or "result")

    @cached_property
    def edited(self) -> Sequence[Edited]:
        """The answer as people sent it, where their words are not the agent's."""
        if self.draft is None or self.report is None:
            return []
        return [self._edited(self.draft, sent) for sent in answers.sent_of(self.draft) if sent.changes]

    def _edited(self, draft: Draft, sent: answers.Sent) -> Edited:
        steps = self.measured.run.steps
        sources = [
            [Source(f"step {at}", step["content"]) for at, step in enumerate(steps) if step["type"] in kinds]
            for kinds in (EVIDENCE, ASKED)
        ]
        grounds = Grounds(sent.sending.text, ground(sent.sending.text, *sources), self.measured.run)
        before = {one.text for one in self.grounds.rows} if self.grounds is not None else set()
        after = {one.text for one in grounds.rows}
        gained = [one for one in grounds.rows if one.text not in before]
        return Edited(draft, sent, grounds, gained, sorted(before - after))


def _percent(part: int, whole: int) -> str:
    return f"{round(100 * part / whole)} %" if whole else "none"


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None
