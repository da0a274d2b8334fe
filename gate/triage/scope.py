"""What an agent may ask right now: its running investigation, with its tools, its budget and its deadline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import TypeVar

from django.utils import timezone

from audit.agents import Principal
from audit.at_once import Asked, Row, Taking
from audit.models import Definition
from evidence.errors import Problem
from gate.triage import classes
from gate.triage.models import Investigation

# One statement takes the call and tells what is left: two calls at once cannot both take the last one.
TAKE = """
update triage_investigation set calls_used = calls_used + 1
where id = $1 and status = 'running' and calls_used < budget_calls and deadline_at > clock_timestamp()
returning budget_calls - calls_used
"""

# Asked at every call; with the number of the class's row as it is, so that its body need not come along.
RUNNING = """
select i.id, i.incident_id, d.id, d.xmin::text from triage_investigation i
join triage_incident n on n.id = i.incident_id join audit_definition d on d.id = n.incident_class_id
where i.agent_id = $1 and i.status = 'running' and ($2::bigint is null or i.id = $2) order by i.id limit 2
"""
T = TypeVar("T")


@dataclass(frozen=True)
class InvestigationScope:
    """The evidence layer's view of a running investigation."""

    principal: Principal
    investigation_id: int
    incident_id: int
    tools: frozenset[str]
    metrics: frozenset[str]

    # The decision point is the time of each call; it freezes when the findings are handed in.
    decision_point: datetime | None = None

    @property
    def run_id(self) -> str:
        return str(self.investigation_id)

    def allows(self, tool: str) -> bool:
        """Whether the incident's class offers this tool."""
        return tool in self.tools

    def allows_metric(self, metric_id: str) -> bool:
        """Whether the incident's class lets this metric be asked about."""
        return metric_id in self.metrics

    def taking_call(self) -> Taking[int]:
        """Takes one call from the budget and tells how many are left; that raises Problem when none can be taken."""
        return Taking(TAKE, [self.investigation_id], self._left)

    def _left(self, rows: list[Row]) -> int:
        if not rows:
            raise self._why_not()
        return int(rows[0][0])

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


def resolving(principal: Principal, investigation: int | None) -> Asked[InvestigationScope]:
    """Asks for the scope of the named running investigation of the agent, or of its only one. It may tell a Problem."""

    def told(rows: list[Row]) -> InvestigationScope:
        pk, incident_id, *of_class = _only(rows)
        return _scope(principal, pk, incident_id, _class(*of_class))

    return Asked(RUNNING, [principal.agent_id, investigation], told)


@lru_cache(maxsize=256)
def _class(class_version: int, as_of: str) -> classes.IncidentClass:
    """A class, read once for each row: a version says the same for ever."""
    return classes.parse(Definition.objects.get(pk=class_version).body)


def _scope(principal: Principal, pk: int, incident_id: int, means: classes.IncidentClass) -> InvestigationScope:
    return InvestigationScope(principal, pk, incident_id, frozenset(means.tools), frozenset(means.metrics))


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
        _scope(principal, one.pk, one.incident_id, classes.of(one.incident))
        for one in found.select_related("incident__incident_class").order_by("pk")
    ]


def running_of(principal: Principal, investigation: int | None) -> Investigation:
    """The agent's running investigation. Raises Problem when there is none, or several and none is named."""
    running = Investigation.objects.filter(agent_id=principal.agent_id, status=Investigation.Status.RUNNING)
    if investigation is not None:
        running = running.filter(pk=investigation)
    return _only(list(running.select_related("incident__incident_class").order_by("pk")[:2]))
