"""Traces of investigations: taken from an agent or a person, kept masked, and read back.

A trace is the client's own account. It decides nothing and is no evidence: what an agent really read stands in the log.
"""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from audit import log, masking, outbox
from audit.kinds import Kind
from evidence.escaping import shown
from evidence.survival.formats.collected import Collected, TraceError
from evidence.survival.formats.reading import AUTO, Parsed, parse, read_parsed
from evidence.survival.formats.several import decoded
from gate.triage.models import Investigation
from gate.triage.rule_models import Job
from gate.triage.trace_models import Trace
from gate.triage.trace_uploads import LONGEST

TASK, QUEUE = "gate.triage.tasks.measure_trace", "trials"  # and not that of verdicts: no draft waits for a trace
LARGE = 256 * 1024  # bytes of a trace that a worker measures, instead of the page that shows it
MOST_STEPS = 50_000
MOST_TRACES = 20  # of one investigation
TOO_DEEP = "The file is nested too deeply."
UNHELD = re.compile("[\0\ud800-\udfff]")  # what no page and no text of a database can hold
TOO_MANY = f"An investigation keeps {MOST_TRACES} traces; this one has them all."


class TooMany(Exception):
    """The investigation has all the traces that it may have."""


@dataclass(frozen=True)
class Read:
    """An upload as it is kept: the masked text, and the steps that it gives."""

    text: bytes
    collected: Collected

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text).hexdigest()


def read(raw: bytes, form: str = AUTO) -> Read:
    """Read and mask an upload. Raises TraceError with a sentence when it is no trace."""
    try:
        parsed = parse(decoded(raw, LONGEST))
        masked = Parsed(masking.mask(parsed.document), parsed.broken)
        text = json.dumps(masked.document, separators=(",", ":")).encode("ascii")
    except RecursionError as error:
        raise TraceError(TOO_DEEP) from error
    collected = _collected(masked, form)
    if not collected.steps:
        raise TraceError(f"None of its {collected.records:,} records gives a step.")
    if len(collected.steps) > MOST_STEPS:
        raise TraceError(f"It has {len(collected.steps):,} steps; {MOST_STEPS:,} are the most.")
    return Read(text, collected)


@transaction.atomic
def keep(investigation_id: int, given: Read, *, origin: Trace.Origin, by: log.Actor) -> tuple[Trace, bool]:
    """Keep an upload with its entry, and whether it is new: the same content twice is one trace. Raises TooMany."""
    # One upload after another: two at once could both find their content missing, or take the last place.
    investigation = Investigation.objects.select_for_update(of=("self",)).get(pk=investigation_id)
    known = _known(investigation, given.sha256)
    if known is not None:
        return known, False
    if Trace.objects.filter(investigation=investigation).exclude(origin=Trace.Origin.LOG).count() >= MOST_TRACES:
        raise TooMany
    trace = _new(investigation, given, origin, by)
    recorded = _record(trace, investigation, by)
    trace.entry_seq = recorded.seq
    trace.save(force_insert=True)
    if trace.status == Job.WAITING:
        outbox.enqueue(TASK, QUEUE, trace.pk)
    return trace, True


def document_of(trace: Trace) -> Any:
    """What was uploaded, masked. The trace has its content."""
    assert trace.content is not None  # who asks has looked
    return json.loads(zlib.decompress(bytes(trace.content)))


def steps_of(trace: Trace) -> Collected:
    """The steps of an uploaded trace that still has its content."""
    return _collected(Parsed(document_of(trace), 0), trace.format)


def _collected(parsed: Parsed, form: str) -> Collected:
    """The steps, with NUL and halves of surrogate pairs written out. Raises TraceError."""
    collected = read_parsed(parsed, form)
    collected.steps = [{key: _written_out(value) for key, value in step.items()} for step in collected.steps]
    return collected


def _written_out(value: Any) -> Any:
    return UNHELD.sub(lambda found: shown(found[0]), value) if isinstance(value, str) else value


def packed(value: Any) -> bytes:
    """JSON, small."""
    return zlib.compress(json.dumps(value, separators=(",", ":")).encode("ascii"))


def unpacked(raw: bytes | memoryview) -> Any:
    """What `packed` packed."""
    return json.loads(zlib.decompress(bytes(raw)))


def digest_of(steps: Sequence[Mapping[str, Any]]) -> str:
    """Which steps a report is about."""
    return hashlib.sha256(json.dumps(list(steps), separators=(",", ":")).encode("ascii")).hexdigest()


def _known(investigation: Investigation, sha256: str) -> Trace | None:
    # Only what the agents' plane may read.
    columns = ("investigation", "sha256", "format", "size", "kept", "skipped", "steps", "status")
    return Trace.objects.only(*columns).filter(investigation=investigation, sha256=sha256).first()


def _new(investigation: Investigation, given: Read, origin: Trace.Origin, by: log.Actor) -> Trace:
    collected, is_large = given.collected, len(given.text) > LARGE
    return Trace(
        investigation=investigation, origin=origin, by=by.name[:120], format=collected.format, sha256=given.sha256,
        size=len(given.text), content=zlib.compress(given.text), kept=collected.kept, skipped=dict(collected.skipped),
        steps=len(collected.steps), status=Job.WAITING if is_large else Job.DONE,
    )  # fmt: skip


def _record(trace: Trace, investigation: Investigation, by: log.Actor) -> log.Recorded:
    told = {
        "format": trace.format, "sha256": trace.sha256, "bytes": trace.size, "records": trace.records,
        "kept": trace.kept, "skipped": trace.skipped, "steps": trace.steps,
    }  # fmt: skip
    return log.record_with(
        Kind.TRACE_UPLOADED, by, subject=f"I-{investigation.incident_id}", incident_id=investigation.incident_id,
        run_id=str(investigation.pk), summary=f"{trace.format}, {trace.steps} steps", args=told,
    )  # fmt: skip
