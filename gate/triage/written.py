"""A read that wrote is an incident: it is opened for people, and closing it lights its source again.

No agent looks into one: it may have caused it. Its class comes with the first source, by the same two hands.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from audit import log, twohands
from audit.kinds import Kind
from audit.models import Definition
from evidence import written_reads
from evidence.models import WrittenRead
from gate.triage import intake
from gate.triage.models import Incident

CLASS = "read_that_wrote"
BODY: dict[str, Any] = {
    "kind": "incident",
    "title": "A read wrote",
    "subject_keys": {"source": "string"},
    "fact_keys": {"during": "string", "by": "string"},
    "recurrence_seconds": 3600,
    "freshness_seconds": 3600,
    "ingestion_lag_seconds": 0,
    "hypotheses": ["credential_only_reads"],
    "severity": "critical",
    "owner": "whoever keeps the source",
    "budget_calls": 1,
    "deadline_seconds": 3600,
    "tools": ["query"],
}


@dataclass(frozen=True)
class Watch:
    """The process that opens it, as an incident knows who reports."""

    name: str = "counterseal, watching reads"  # no monitor can be called that: its name has no space

    def actor(self) -> log.Actor:
        """The process in the log's words."""
        return log.Actor.process()


def bring_class(source: Definition) -> None:
    """Have the class in force from when there is a source whose reads can be watched, in the caller's transaction."""
    twohands.come_with(source, "class", CLASS, BODY)


def open_all() -> None:
    """Open an incident for each read that wrote and that is in none yet. Safe to run twice at once. Raises Problem."""
    for pk in WrittenRead.objects.filter(incident_id=None).order_by("pk").values_list("pk", flat=True):
        _open_for(pk)


@transaction.atomic
def _open_for(pk: int) -> None:
    found = WrittenRead.objects.select_for_update().get(pk=pk)
    if found.incident_id is None:
        found.incident_id = _incident_of(found).pk
        found.save(update_fields=["incident_id"])


def _incident_of(written: WrittenRead) -> Incident:
    """The open incident of its source, or a new one."""
    report = _report(written)
    key = intake.dedup_key(report)
    # Locked, so that it is not closed while the read is added: that would settle it unseen.
    known = open_ones().select_for_update(of=("self",)).filter(dedup_key=key).first()
    if known is None:
        return intake.open_new(key, report, intake.checked(report), Watch())
    _add(known, written)
    return known


def _report(written: WrittenRead) -> intake.Report:
    return intake.Report(
        incident_class=CLASS, title=f"A read of the source {written.source} wrote", began_at=written.at,
        subject={"source": written.source}, facts={"during": written.during, "by": written.by},
    )  # fmt: skip


def _add(incident: Incident, written: WrittenRead) -> None:
    log.record_with(
        Kind.INCIDENT_UPDATED, log.Actor.process(), subject=incident.ref, incident_id=incident.pk,
        summary=f"once more, during {written.during}", args={"during": written.during, "by": written.by},
        result={"incident": incident.pk},
    )  # fmt: skip


def is_for_people(incident: Incident) -> bool:
    """Whether no agent may look into the incident."""
    return incident.incident_class.name == CLASS


def open_ones() -> QuerySet[Incident]:
    """The incidents of reads that wrote and that no person has closed."""
    return Incident.objects.filter(incident_class__name=CLASS, status__in=intake.OPEN)


def settle(incident: Incident) -> None:
    """A person has closed an incident, in the caller's transaction: where it was about a source, that is lit again."""
    if is_for_people(incident):
        written_reads.settle(incident.subject["source"])
