"""Investigations whose time is over: they are abandoned, and their incidents wait again."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from audit import log
from audit.kinds import Kind
from evidence import changes
from gate.triage.models import Incident, Investigation


def abandon_all() -> int:
    """Abandon every running investigation past its deadline, each in a transaction of its own. Says how many."""
    late = Investigation.objects.filter(status=Investigation.Status.RUNNING, deadline_at__lte=timezone.now())
    return sum(_abandon(pk) for pk in list(late.values_list("pk", flat=True)))


@transaction.atomic
def _abandon(pk: int) -> bool:
    running = Investigation.objects.select_for_update(of=("self",)).select_related("incident", "agent")
    investigation = running.get(pk=pk)
    # It may have been handed in while this waited for the row.
    if investigation.status != Investigation.Status.RUNNING:
        return False
    investigation.status = Investigation.Status.ABANDONED
    investigation.save(update_fields=["status"])
    Incident.objects.filter(pk=investigation.incident_id, status=Incident.Status.INVESTIGATING).update(
        status=Incident.Status.OPEN
    )
    log.record_with(
        Kind.INVESTIGATION_ABANDONED, log.Actor.process(), subject=investigation.incident.ref,
        incident_id=investigation.incident_id, run_id=str(investigation.pk),
        summary=f"{investigation.agent.name} did not hand in in time",
        args={"calls_used": investigation.calls_used, "deadline_at": investigation.deadline_at.isoformat()},
    )  # fmt: skip
    changes.announce(investigation.agent_id)
    return True
