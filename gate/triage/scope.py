"""What an agent may ask right now: its running investigation, with its tools, its budget and its deadline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import TypeVar

from django.db import connection
from django.utils import timezone

from audit.agents import Principal
from audit.models import Definition
from evidence.errors import Problem
from gate.triage import classes
from gate.triage.models import Investigation

# One statement takes the call and tells what is left: two calls at once cannot both take the last one.
TAKE = """
update triage_investigation set calls_used = calls_used + 1
where id = %s and status = 'running' and calls_used < budget_calls and deadline_at > clock_timestamp()
returning budget_calls - calls_used
"""

# Asked at every call; with the number of the class's row as it is, so that its body need not come along.
RUNNING = """
select i.id, i.incident_id, d.id, d.xmin::text from triage_investigation i
join triage_incident n on n.id = i.incident_id join audit_definition d on d.id = n.incident_class_id
where i.agent_id = %s and i.status = 'running' and (%s::bigint is null or i.id = %s) order by i.id limit 2
"""
T = TypeVar("T")


@dataclass(frozen=True)
class InvestigationScope:
    """The evidence layer's view of a running investigation."""

    principal: Principal
    investigation_id: int
    incident_id: int
    tools: frozenset[str]

    # The decision point is the time of each call; it freezes when the findings are handed in.
    decision_point: datetime | None = None

    @property
    def run_id(self) -> str:
        return str(self.investigation_id)

    def allows(self, tool: str) -> bool:
        """Whether the incident's class offers this tool."""
        return tool in self.tools

    def take_call(self) -> int:
        """Take one call from the budget and say how many are left. Raises Problem when none can be taken."""
        with connection.cursor() as cursor:
            cursor.execute(TAKE, [self.investigation_id])
            row = cursor.fetchone()
        if row is None:
            raise self._why_not()
        return int(row[0])

    def _why_not(self) -> Problem:
        now = Investigation.objects.get(pk=self.investigation_id)
        if now.status != Investigation.Status.RUNNING:
            return none_running()
        if now.deadline_at <= timezone.now():
            return Problem(409, "deadline_passed", "The time of this investigation is over; start a new one.")
        return Problem(429, "budget_spent", f"All {now.budget_calls} calls are used; hand in what you have found.")


def none_running() -> Problem:
    """The one answer for no investigation, a finished one and someone else's: they look the same."""
    return Problem(409, "no_investigation", "Start an investigation first.")


def resolve(principal: Principal, investigation: int | None) -> InvestigationScope:
    """The scope of the named running investigation of the agent, or of its only one. Raises Problem."""
    with connection.cursor() as cursor:
        cursor.execute(RUNNING, [principal.agent_id, investigation, investigation])
        pk, incident_id, *of_class = _only(cursor.fetchall())
    return InvestigationScope(principal, pk, incident_id, _tools(*of_class))


@lru_cache(maxsize=256)
def _tools(class_version: int, as_of: str) -> frozenset[str]:
    """The tools of a class, read once for each row: a version says the same for ever."""
    return frozenset(classes.parse(Definition.objects.get(pk=class_version).body).tools)


def _only(found: Sequence[T]) -> T:
    """The one that was found. Raises Problem when there is none, or several."""
    if not found:
        raise none_running()
    if len(found) > 1:
        raise Problem(409, "which_investigation", "You run several investigations; say which in `investigation`.")
    return found[0]


def running(principal: Principal) -> list[InvestigationScope]:
    """The scopes of all investigations that the agent runs."""
    found = Investigation.objects.filter(agent_id=principal.agent_id, status=Investigation.Status.RUNNING)
    return [
        InvestigationScope(principal, one.pk, one.incident_id, frozenset(classes.of(one.incident).tools))
        for one in found.select_related("incident__incident_class").order_by("pk")
    ]


def running_of(principal: Principal, investigation: int | None) -> Investigation:
    """The agent's running investigation. Raises Problem when there is none, or several and none is named."""
    running = Investigation.objects.filter(agent_id=principal.agent_id, status=Investigation.Status.RUNNING)
    if investigation is not None:
        running = running.filter(pk=investigation)
    return _only(list(running.select_related("incident__incident_class").order_by("pk")[:2]))
