"""What was measured of an investigation: now, when it is little, and by a worker in parts when it is much."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from audit import outbox
from evidence.survival import measuring
from gate.triage import survival_steps, traces
from gate.triage.models import Investigation
from gate.triage.rule_models import OPEN, Job
from gate.triage.survival_steps import Run
from gate.triage.trace_models import Trace

MEASURE, QUEUE = "gate.triage.tasks.measure_log", traces.QUEUE
LARGE = traces.LARGE  # characters: more is not measured while somebody waits for a page
SLICE = 1.0  # seconds
NOBODY = "counterseal"


@dataclass(frozen=True)
class Measured:
    """A run with its report; without one, `trace` says how far it is and `why` what keeps it."""

    run: Run
    report: Mapping[str, Any] | None
    why: str = ""

    @property
    def trace(self) -> Trace | None:
        return self.run.trace


def of_log(investigation: Investigation) -> Measured:
    """What the log has of an investigation, measured."""
    run = survival_steps.of_log(investigation)
    run.trace = Trace.objects.filter(investigation=investigation, origin=Trace.Origin.LOG).first()
    # Entries may have been redacted since, or calls have come: a report of other steps says nothing about these.
    is_same = run.trace is not None and run.trace.sha256 == traces.digest_of(run.steps)
    return _measured(run, is_current=is_same)


def of_trace(trace: Trace) -> Measured:
    """What was uploaded, measured."""
    if trace.content is None:
        return Measured(Run(trace=trace), None, trace.why)
    return _measured(survival_steps.of_trace(trace), is_current=True)


def _measured(run: Run, *, is_current: bool) -> Measured:
    trace = run.trace
    if is_current and trace is not None and trace.report is not None and trace.status == Job.DONE:
        report = traces.unpacked(trace.report)
        if report["version"] == measuring.VERSION:
            return Measured(run, report)
    if run.size <= LARGE:
        return Measured(run, measuring.measure(run.steps))
    return Measured(run, None, trace.why if trace is not None else "")


def ask_for_log(investigation_id: int) -> None:
    """Have a worker measure what the log has of an investigation, in the caller's transaction."""
    outbox.enqueue(MEASURE, QUEUE, investigation_id)


def measure_log(investigation_id: int) -> bool:
    """Go on with measuring what the log has of an investigation. True when there is nothing more to do."""
    return _advance(_log_trace(investigation_id))


def advance(trace_id: int) -> bool:
    """Go on with measuring an uploaded trace. True when there is nothing more to do. Safe to run twice."""
    return _advance(trace_id)


@transaction.atomic
def _log_trace(investigation_id: int) -> int:
    """The row of the log's own trace, made or begun anew where the log has more by now."""
    investigation = Investigation.objects.select_for_update(of=("self",)).get(pk=investigation_id)
    run = survival_steps.of_log(investigation)
    sha256 = traces.digest_of(run.steps)
    known = Trace.objects.filter(investigation=investigation, origin=Trace.Origin.LOG).first()
    if known is not None and known.sha256 == sha256 and (known.report is not None or known.status in OPEN):
        return known.pk
    about = {
        "sha256": sha256, "size": run.size, "kept": len(run.steps), "steps": len(run.steps), "by": NOBODY,
        "format": survival_steps.FORMAT, "status": Job.WAITING, "done": 0, "report": None, "why": "",
        "skipped": {why: sum(one == why for _, one in run.left_out) for _, why in run.left_out},
    }  # fmt: skip
    row, _ = Trace.objects.update_or_create(investigation=investigation, origin=Trace.Origin.LOG, defaults=about)
    return row.pk


def _advance(trace_id: int) -> bool:
    until = time.monotonic() + SLICE
    while _step(trace_id):
        if time.monotonic() > until:
            return False
    return True


@transaction.atomic
def _step(trace_id: int) -> bool:
    """Measure the next part, or finish. False when it is over."""
    trace = Trace.objects.select_for_update(of=("self",)).select_related("investigation").get(pk=trace_id)
    if trace.status not in OPEN:
        return False
    if trace.content is None and trace.origin != Trace.Origin.LOG:
        _end(trace, Job.FAILED)
        return False
    steps = _steps(trace)
    report = traces.unpacked(trace.report) if trace.report is not None else {"version": measuring.VERSION}
    missing = [name for name in measuring.PARTS if name not in report]
    if report["version"] != measuring.VERSION or not missing:
        _finish(trace, report, steps)
        return False
    report[missing[0]] = measuring.PARTS[missing[0]](steps)
    trace.status, trace.total, trace.done = Job.RUNNING, len(measuring.PARTS), len(report) - 1
    trace.report = traces.packed(report)
    trace.save(update_fields=["status", "total", "done", "report"])
    return True


def _steps(trace: Trace) -> Sequence[Mapping[str, Any]]:
    if trace.origin == Trace.Origin.LOG:
        return survival_steps.of_log(trace.investigation).steps
    return traces.steps_of(trace).steps


def _finish(trace: Trace, report: Mapping[str, Any], steps: Sequence[Mapping[str, Any]]) -> None:
    if trace.origin == Trace.Origin.LOG and trace.sha256 != traces.digest_of(steps):
        # The log went on, or an entry was redacted, while it was measured: what was found is about something else.
        trace.report = None
        _end(trace, Job.FAILED)
        return
    trace.tools = tallies(report)
    _end(trace, Job.DONE)


def _end(trace: Trace, status: Job) -> None:
    trace.status, trace.finished_at = status, timezone.now()
    trace.save(update_fields=["status", "finished_at", "tools", "report"])


def tallies(report: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    """Figures of the finer measure by tool, or by source where a result names no tool."""
    found: dict[str, dict[str, int]] = {}
    for record in report["finer"]["evidence"]:
        name = str(record["tool"] or record["source"] or "unnamed")[:200]
        sums = found.setdefault(name, dict.fromkeys(("results", "met", "in_answer", "in_actions", "characters"), 0))
        sums["results"] += 1
        sums["met"] += bool(record["surviving"] or record["in_actions"])
        sums["in_answer"] += record["in_answer"] > 0
        sums["in_actions"] += record["in_actions"] > 0
        sums["characters"] += record["characters"]
    return found
