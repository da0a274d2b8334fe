"""What becomes of somebody's work when they are deactivated: shown before, done with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from audit import agents
from audit.models import Agent, AgentToken
from gate.people import visits
from gate.people.models import Person
from gate.triage.models import Draft, Incident, Investigation
from gate.writes import quorum
from gate.writes.models import Decision, WriteRequest

NOT_RUN = (WriteRequest.Status.WAITING, WriteRequest.Status.APPROVED)


@dataclass(frozen=True)
class Left:
    """What somebody holds now."""

    claims: list[Draft]
    approvals: list[Decision]
    incidents: list[Incident]
    tokens: list[AgentToken]
    agents: list[Agent]  # those at work: a stopped one has nothing more to lose
    running: list[Investigation]
    visits: int

    def as_args(self) -> dict[str, Any]:
        """The same for the log."""
        return {
            "claims_released": [draft.ref for draft in self.claims],
            "approvals_void": [decision.write.ref for decision in self.approvals],
            "incidents_in_their_name": [incident.ref for incident in self.incidents],
            "agents_stopped": [agent.name for agent in self.agents],
            "investigations_ended": [investigation.incident.ref for investigation in self.running],
            "sessions_ended": self.visits,
        }


def of(person: Person) -> Left:
    """What a person holds now."""
    decisions = Decision.objects.filter(by=person, act__in=quorum.APPROVALS)
    tokens = AgentToken.objects.filter(agent__owner=person, revoked_at=None, expires_at__gt=timezone.now())
    return Left(
        claims=list(
            Draft.objects.filter(
                claimed_by=person, status=Draft.Status.CLAIMED, claimed_until__gt=timezone.now()
            ).order_by("pk")
        ),
        approvals=list(decisions.filter(write__status__in=NOT_RUN).select_related("write").order_by("write_id")),
        incidents=list(Incident.objects.filter(owner=person).exclude(status=Incident.Status.CLOSED).order_by("pk")),
        tokens=list(tokens.order_by("pk")),
        agents=list(Agent.objects.filter(owner=person, stopped_at=None).order_by("name")),
        running=list(
            Investigation.objects.filter(agent__owner=person, status=Investigation.Status.RUNNING)
            .select_related("incident")
            .order_by("pk")
        ),
        visits=visits.of(person).count(),
    )


def let_go(person: Person, by: Person) -> Left:
    """Release claims, stop agents and end sessions, in the caller's transaction. What it was.

    An approval that was not executed needs nothing: the writer refuses it, for its approver may not decide any more.
    """
    left = of(person)
    Draft.objects.filter(claimed_by=person, status=Draft.Status.CLAIMED).update(
        status=Draft.Status.WAITING, claimed_by=None, claimed_until=None
    )
    for agent in left.agents:
        agents.stop(agent.pk, by=by.actor())
    for token in left.tokens:  # also those of an agent that was stopped before they were issued
        agents.revoke_token(token.pk, by=by.actor())
    visits.end(person.visits.all())
    return left
