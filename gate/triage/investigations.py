"""An agent begins to look into an incident. At most one investigation runs on an incident at a time."""

from __future__ import annotations

import re
from typing import Any

from django.db import connection, transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from audit import log, masking
from audit.agents import Principal
from audit.kinds import Kind
from audit.models import Agent
from evidence import budgets, changes
from evidence.errors import Problem
from gate.triage import classes, written
from gate.triage.briefing import brief
from gate.triage.models import Incident, Investigation

STARTABLE = (Incident.Status.OPEN, Incident.Status.REOPENED)
REFERENCE = re.compile(r"(?:I-)?([1-9][0-9]{0,17})", re.ASCII)
CHOSEN_BY_AGENT = "The agent named it."
CHOSEN_AS_OLDEST = "The oldest open incident that no person has taken and nobody investigates."


@transaction.atomic
def start(principal: Principal, incident: str | int | None) -> Investigation:
    """Start an investigation of the named incident, or of the one that has waited longest. Raises Problem."""
    _check_may_start_one_more(principal)
    chosen = _pick(incident)
    now, means = timezone.now(), classes.of(chosen)
    offered = brief(chosen, now=now)
    why = CHOSEN_AS_OLDEST if incident is None else CHOSEN_BY_AGENT
    investigation = Investigation.objects.create(
        incident=chosen, agent_id=principal.agent_id, budget_calls=means.budget_calls,
        deadline_at=now + means.deadline, briefing={"offered": offered, "chosen": chosen.ref, "why": why},
    )  # fmt: skip
    # The row refers to the agent's, so it waited for whoever was stopping the agent.
    budgets.check_at_work(principal)
    chosen.status = Incident.Status.INVESTIGATING
    chosen.save(update_fields=["status"])
    log.record_with(
        Kind.INVESTIGATION_STARTED, principal.actor(), subject=chosen.ref, incident_id=chosen.pk,
        run_id=str(investigation.pk), summary=chosen.title, args={"incident": incident},
        result=masking.mask(investigation.briefing),
    )  # fmt: skip
    changes.announce(principal.agent_id)
    return investigation


def _check_may_start_one_more(principal: Principal) -> None:
    # One start of an agent after another: two at once could both see the last place free.
    with connection.cursor() as cursor:
        cursor.execute("select pg_advisory_xact_lock(hashtextextended('starts', %s))", [principal.agent_id])
    allowed = Agent.objects.get(pk=principal.agent_id).open_investigations
    running = Investigation.objects.filter(agent_id=principal.agent_id, status=Investigation.Status.RUNNING).count()
    if running >= allowed:
        sentence = f"{running:,} of {allowed:,} investigations run that this agent may run at once; hand one in first."
        raise Problem(429, "agent_budget_spent", sentence)


def _pick(incident: str | int | None) -> Incident:
    # The row is locked, so the second of two agents waits here and then finds it taken.
    waiting = Incident.objects.select_for_update(of=("self",)).select_related("incident_class")
    if incident is None:
        return _oldest(waiting)
    chosen = waiting.filter(pk=number_of(incident)).first()
    if chosen is None:
        raise Problem(404, "unknown_incident", "There is no open incident of that number.")
    if chosen.status == Incident.Status.INVESTIGATING:
        raise Problem(409, "already_running", f"{chosen.ref} is being investigated; take another one.")
    if chosen.status not in STARTABLE or written.is_for_people(chosen):
        raise Problem(409, "not_startable", f"{chosen.ref} waits for a person; take another one.")
    return chosen


def _oldest(waiting: QuerySet[Incident]) -> Incident:
    running = Investigation.objects.filter(incident=OuterRef("pk"), status=Investigation.Status.RUNNING)
    free = waiting.filter(~Exists(running), status__in=STARTABLE, owner=None)
    chosen = free.exclude(incident_class__name=written.CLASS).order_by("began_at", "pk").first()
    if chosen is None:
        raise Problem(404, "nothing_waits", "No open incident waits for an investigation.")
    return chosen


def number_of(incident: str | int) -> int:
    """The number that "I-318", "318" or 318 names. Raises Problem."""
    matched = REFERENCE.fullmatch(str(incident))
    if matched is None:
        raise Problem(422, "wrong_arguments", "Name an incident like I-318, or leave it out.")
    return int(matched[1])


def told(investigation: Investigation) -> dict[str, Any]:
    """What the agent is answered."""
    return {"investigation": investigation.pk, "briefing": investigation.briefing["offered"]}
