"""What an incident means is decided by its class: a definition that one person drafts and another activates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from evidence import arguments
from gate.triage.cases import IncidentFacts
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
SCHEMA = {"type": "object", "properties": PROPERTIES, "required": list(PROPERTIES), "additionalProperties": False}
TYPES: Mapping[str, type] = {"integer": int, "string": str}
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


def parse(body: Mapping[str, Any]) -> IncidentClass:
    """The class that a definition's body says. Raises ValueError with a sentence."""
    sentence = arguments.misfit(SCHEMA, dict(body))
    if sentence:
        raise ValueError(sentence)
    lists = {"hypotheses": tuple(body["hypotheses"]), "tools": tuple(body["tools"])}
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


def facts_of(incident: Incident) -> IncidentFacts:
    """The incident as the verdict is given it."""
    means = of(incident)
    return IncidentFacts(
        id=incident.pk,
        kind=incident.kind,
        subject=incident.subject,
        facts=incident.facts,
        began_at=incident.began_at,
        watch_from=incident.watch_from,
        recurrence_seconds=means.recurrence_seconds,
        freshness_seconds=means.freshness_seconds,
        ingestion_lag_seconds=means.ingestion_lag_seconds,
        hypotheses=means.hypotheses,
    )


def spelled(moment: datetime) -> str:
    """A moment as agents and monitors get it: ISO 8601, UTC, with Z."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
