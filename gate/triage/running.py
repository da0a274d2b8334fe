"""What an agent is at right now, for the page of the agent."""

from __future__ import annotations

from collections.abc import Sequence

from django.urls import reverse

from audit.agent_page import Work
from gate.triage.models import Investigation

MOST = 50


def of_agent(agent_id: int) -> Sequence[Work]:
    """The agent's running investigations, oldest first."""
    found = Investigation.objects.filter(agent_id=agent_id, status=Investigation.Status.RUNNING)
    return [
        Work(
            title=f"{one.incident.ref} {one.incident.title}", url=reverse("gate:incident", args=[one.incident_id]),
            started_at=one.started_at, note=f"{one.calls_used} of {one.budget_calls} calls",
        )
        for one in found.select_related("incident").order_by("pk")[:MOST]
    ]  # fmt: skip
