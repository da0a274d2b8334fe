"""Ending running investigations: one that a person stops, or all of an agent that is stopped."""

from __future__ import annotations

from collections.abc import Sequence

from audit import log
from audit.kinds import Kind
from evidence import changes
from gate.triage.models import Incident, Investigation

AGENT_STOPPED = "Its agent was stopped."


def end(investigation: Investigation, by: log.Actor, reason: str) -> None:
    """End a running investigation whose row is locked, in the caller's transaction; its incident waits again."""
    investigation.status = Investigation.Status.ABANDONED
    investigation.save(update_fields=["status"])
    incident = investigation.incident
    Incident.objects.filter(pk=incident.pk, status=Incident.Status.INVESTIGATING).update(status=Incident.Status.OPEN)
    seen = {"reason": reason, "agent": investigation.agent.name, "calls_used": investigation.calls_used}
    log.record_with(
        Kind.INVESTIGATION_STOPPED, by, subject=incident.ref, incident_id=incident.pk,
        run_id=str(investigation.pk), summary=reason, args=seen,
    )  # fmt: skip
    changes.announce(investigation.agent_id)


def end_all(agent_id: int, by: log.Actor) -> Sequence[str]:
    """End everything that a stopped agent is at, in the caller's transaction. The incidents that wait again."""
    running = Investigation.objects.select_for_update(of=("self",)).select_related("incident", "agent")
    found = list(running.filter(agent_id=agent_id, status=Investigation.Status.RUNNING).order_by("pk"))
    for investigation in found:
        end(investigation, by, AGENT_STOPPED)
    return [investigation.incident.ref for investigation in found]
