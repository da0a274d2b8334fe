"""What an incident means is decided by its class: a definition that one person drafts and another activates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from django.urls import reverse

from audit.models import Definition
from evidence import arguments
from evidence.offering import Offering
from gate.triage.cases import IncidentFacts
from gate.triage.grammars import conditions
from gate.triage.models import Incident

NAME = {"type": "string", "pattern": "^[a-z][a-z0-9_]{0,79}$"}
SEVERITIES = ("low", "medium", "high", "critical")
NAMES = {"type": "array", "items": NAME, "minItems": 1, "maxItems": 40, "uniqueItems": True}
DURATION = {"type": "integer", "minimum": 0, "maximum": 90 * 24 * 3600}
PROPERTIES: dict[str, Any] = {
    "kind": {"enum": ["incident", "claim"]},
    "title": {"type": "string", "minLength": 1, "maxLength": 200},
    "subject_keys": {
        "type": "object",
        "propertyNames": NAME,
        "additionalProperties": {"enum": ["integer", "string"]},
        "minProperties": 1,
        "maxProperties": 8,
    },
    "recurrence_seconds": DURATION,
    "freshness_seconds": {**DURATION, "minimum": 1},
    "ingestion_lag_seconds": DURATION,
    "hypotheses": NAMES,
    "severity": {"enum": list(SEVERITIES)},
    "owner": {"type": "string", "minLength": 1, "maxLength": 150},
    "budget_calls": {"type": "integer", "minimum": 1, "maximum": 1000},
    "deadline_seconds": {"type": "integer", "minimum": 30, "maximum": 7 * 24 * 3600},
    "tools": NAMES,
}
# What a class may leave out: which facts a monitor says besides the subject. Without it, any, but no condition.
OPTIONAL: dict[str, Any] = {
    "metrics": {**NAMES, "minItems": 0},  # which numbers may be asked about; without it, none
    "watch_seconds": DURATION,  # how long a report may speak against a pass that has closed; without it, not at all
    "fact_keys": {
        "type": "object",
        "propertyNames": NAME,
        "additionalProperties": {"enum": ["integer", "string", "condition"]},
        "maxProperties": 20,
    },
}
SCHEMA = {
    "type": "object", "properties": PROPERTIES | OPTIONAL, "required": list(PROPERTIES), "additionalProperties": False,
}  # fmt: skip
TYPES: Mapping[str, type] = {"integer": int, "string": str}
FACT_TYPES: Mapping[str, type] = {**TYPES, "condition": str}
CONDITIONS = ("metric_good",)  # what these say decides what is good, so a monitor says it only where a class lets it
LONGEST_SUBJECT = 200


@dataclass(frozen=True)
class IncidentClass:
    """One version of a class, as its body says it."""

    kind: str
    title: str
    subject_keys: Mapping[str, str]
    recurrence_seconds: int
    freshness_seconds: int
    ingestion_lag_seconds: int
    hypotheses: tuple[str, ...]
    severity: str
    owner: str
    budget_calls: int
    deadline_seconds: int
    tools: tuple[str, ...]
    fact_keys: Mapping[str, str] = field(default_factory=dict)
    watch_seconds: int = 0
    metrics: tuple[str, ...] = ()

    @property
    def deadline(self) -> timedelta:
        return timedelta(seconds=self.deadline_seconds)

    def misfit(self, subject: Mapping[str, Any]) -> str:
        """Why a subject is not one of this class, as a sentence; empty when it is."""
        if set(subject) != set(self.subject_keys):
            return f"The subject of this class is exactly {', '.join(sorted(self.subject_keys))}."
        for key, wanted in sorted(self.subject_keys.items()):
            if type(subject[key]) is not TYPES[wanted]:
                return f"The subject's {key} must be of type {wanted}."
            if subject[key] == "" or len(str(subject[key])) > LONGEST_SUBJECT:
                return f"The subject's {key} is empty or longer than {LONGEST_SUBJECT} characters."
        return ""

    def misfit_of_facts(self, facts: Mapping[str, Any]) -> str:
        """Why a monitor may not say these facts, as a sentence; empty when it may."""
        for key, value in sorted(facts.items()):
            wanted = self.fact_keys.get(key)
            if wanted is None and (self.fact_keys or key in CONDITIONS):
                return f"This class does not say that a report may bring the fact {key}; its fact_keys would."
            if wanted is not None and type(value) is not FACT_TYPES[wanted]:
                return f"The fact {key} must be of type {wanted}."
            if wanted == "condition" and conditions.parse(value) is None:
                return f"The fact {key} must be an operator, a space and a number, like < 0.05."
        return ""


def parse(body: Mapping[str, Any]) -> IncidentClass:
    """The class that a definition's body says. Raises ValueError with a sentence."""
    sentence = arguments.misfit(SCHEMA, dict(body))
    if sentence:
        raise ValueError(sentence)
    lists = {key: tuple(body.get(key, ())) for key in ("hypotheses", "tools", "metrics")}
    return IncidentClass(**{**body, **lists})


EXAMPLE = {
    "kind": "incident",
    "title": "A job failed",
    "subject_keys": {"job_id": "integer"},
    "recurrence_seconds": 10800,
    "freshness_seconds": 21600,
    "ingestion_lag_seconds": 300,
    "hypotheses": ["transient_failure_recovered"],
    "severity": "high",
    "owner": "platform",
    "budget_calls": 12,
    "deadline_seconds": 1800,
    "tools": ["find_job", "count_errors"],
}


def check(name: str, body: dict[str, Any]) -> None:
    """Raises ValueError unless the body is a class."""
    parse(body)


def of(incident: Incident) -> IncidentClass:
    """The version that the incident was opened under: a later one does not change what it means."""
    return parse(incident.incident_class.body)


def facts_of(incident: Incident, looked_at: datetime | None = None) -> IncidentFacts:
    """The incident as the verdict of a look that began at `looked_at` (None: now) is given it."""
    means = of(incident)
    return IncidentFacts(
        id=incident.pk,
        kind=incident.kind,
        subject=incident.subject,
        facts=incident.facts,
        began_at=counted_from(incident, incident.began_at, looked_at),
        watch_from=counted_from(incident, incident.watch_from, looked_at),
        recurrence_seconds=means.recurrence_seconds,
        freshness_seconds=means.freshness_seconds,
        ingestion_lag_seconds=means.ingestion_lag_seconds,
        hypotheses=means.hypotheses,
        members=tuple(incident.members),
        undelivered=incident.undelivered,
    )


def counted_from(incident: Incident, moment: datetime, looked_at: datetime | None = None) -> datetime:
    """From when evidence or silence counts, for a look that began at `looked_at` (None: now).

    When a monitor has spoken against the pass that closed it, nothing from before counts for whoever looks anew. What
    was decided before stays decided from what it was.
    """
    again = incident.came_back_at
    is_of_before = again is not None and looked_at is not None and looked_at < again
    return moment if again is None or is_of_before else max(moment, again)


def spelled(moment: datetime) -> str:
    """A moment as agents and monitors get it: ISO 8601, UTC, with Z."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def offering() -> Mapping[str, Sequence[Offering]]:
    """The classes in force by the name of each tool that they offer."""
    found: dict[str, list[Offering]] = {}
    active = Definition.objects.filter(kind="class", status=Definition.Status.ACTIVE).order_by("name")
    for name, body in active.values_list("name", "body"):
        for tool in body["tools"]:
            found.setdefault(tool, []).append(Offering(name, body["title"], reverse("gate:class", args=[name])))
    return found
