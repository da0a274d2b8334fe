"""What an agent is told when it starts: the essentials of the incident, what would have to be shown, and with what.

Nothing of earlier verdicts or outcomes is in it: an agent that knows what passed looks for what passes.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from audit.models import Definition
from evidence.metrics import briefing as selecting
from evidence.metrics import registry as numbers
from gate.triage import classes
from gate.triage.models import Incident
from gate.triage.rules import registry
from gate.triage.rules.language import Rule
from gate.triage.wording import Wording


def brief(incident: Incident, *, now: datetime) -> dict[str, Any]:
    """The briefing of one incident, as JSON."""
    means = classes.of(incident)
    return {
        "incident": incident.ref,
        "class": incident.incident_class.name,
        "class_version": incident.incident_class.version,
        "kind": incident.kind,
        "title": incident.title,
        "severity": incident.severity,
        "subject": incident.subject,
        "facts": incident.facts,
        "members": incident.members,
        "began_at": classes.spelled(classes.counted_from(incident, incident.began_at)),
        "watch_from": classes.spelled(classes.counted_from(incident, incident.watch_from)),
        "recurrence_seconds": means.recurrence_seconds,
        "freshness_seconds": means.freshness_seconds,
        "ingestion_lag_seconds": means.ingestion_lag_seconds,
        "hypotheses": list(_hypotheses(incident, means)),
        "tools": list(_tools(means)),
        "metrics": _metrics(incident, means),
        "budget_calls": means.budget_calls,
        "deadline_at": classes.spelled(now + means.deadline),
        "decision_point": "The time of each call; it freezes when you hand in.",
        "guidance": incident.guidance,
    }


def rules_in_force(hypotheses: Iterable[str]) -> dict[str, dict[str, Any]]:
    """The bodies of the active rule definitions for some hypotheses."""
    found = Definition.objects.filter(kind="rule", status=Definition.Status.ACTIVE, name__in=list(hypotheses))
    return dict(found.values_list("name", "body"))


def _hypotheses(incident: Incident, means: classes.IncidentClass) -> Iterable[dict[str, Any]]:
    active = registry.active(rules_in_force(means.hypotheses))
    words = Wording(classes.facts_of(incident))
    for name in means.hypotheses:
        known = active.get(name)
        rule = known.rule if known is not None else None
        yield {"hypothesis": name, "facts": _facts(rule, words, means.tools) if rule is not None else []}


def _facts(rule: Rule, words: Wording, offered: tuple[str, ...]) -> list[dict[str, Any]]:
    """Each fact with the offered tools that can show it, and what their answers have to say."""
    return [
        {
            "fact": fact.name,
            "tools": [tool for tool in fact.tools if tool in offered],
            "shows": [words.fill(check.title) for need in fact.needs for check in need.checks],
        }
        for fact in rule.facts
    ]


def _tools(means: classes.IncidentClass) -> Iterable[dict[str, str]]:
    found = Definition.objects.filter(kind="tool", status=Definition.Status.ACTIVE, name__in=means.tools)
    for name, body in found.order_by("name").values_list("name", "body"):
        yield {"name": name, "purpose": str(body["purpose"])}


def _metrics(incident: Incident, means: classes.IncidentClass) -> dict[str, Any]:
    """The numbers that can be asked about what the incident says, selected by a rule that says what it left out."""
    available = {
        one.metric_id: one for one in numbers.all_active() if one.is_for_agents and one.metric_id in means.metrics
    }
    said = {**incident.facts, **incident.subject}
    selection = selecting.select(available.values(), said)
    told = [available[choice.metric_id] for choice in selection.selected]
    return {
        **selection.said(),
        "selected": [
            {
                "metric_id": one.metric_id, "title": one.title, "unit": one.unit.name,
                "scope": {key: said[key] for key in one.scope},
            }
            for one in told
        ],
    }  # fmt: skip
