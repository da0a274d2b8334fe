"""Incidents as people read them: a list by age, and one with all that happened to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from audit import sentences
from audit.models import Entry
from gate.triage import guards
from gate.triage.models import Draft, Incident, Investigation
from gate.writes.models import WriteRequest

PAGE_SIZE = 50
MOST_EVENTS = 200
# Calls are told as one line per investigation; the log has each of them.
NOT_IN_TIMELINE = ("call.started", "call.finished")


@dataclass(frozen=True)
class IncidentList:
    """One page of incidents, and where the older ones start."""

    incidents: Sequence[Incident]
    status: str
    statuses: Sequence[tuple[str, str]]
    older: int | None


def page(query: Mapping[str, str]) -> IncidentList:
    """A page of the list, newest first, by number: the address carries the last number seen."""
    status, before = query.get("status", ""), query.get("before", "")
    found = Incident.objects.select_related("incident_class", "owner").order_by("-pk")
    if status in Incident.Status.values:
        found = found.filter(status=status)
    if before.isdecimal() and len(before) <= 18:
        found = found.filter(pk__lt=int(before))
    rows = list(found[: PAGE_SIZE + 1])
    older = rows[PAGE_SIZE - 1].pk if len(rows) > PAGE_SIZE else None
    return IncidentList(rows[:PAGE_SIZE], status, Incident.Status.choices, older)


class IncidentPage:
    """What the page of one incident shows."""

    def __init__(self, incident: Incident) -> None:
        self.incident = incident

    @property
    def means(self) -> dict[str, Any]:
        """The body of the class version that the incident was opened under."""
        return dict(self.incident.incident_class.body)

    @cached_property
    def investigations(self) -> Sequence[Investigation]:
        return list(self.incident.investigations.select_related("agent").order_by("-pk"))

    @cached_property
    def drafts(self) -> Sequence[Draft]:
        return list(
            Draft.objects.filter(investigation__incident=self.incident).select_related("review").order_by("-pk")
        )

    @cached_property
    def writes(self) -> Sequence[WriteRequest]:
        return list(self.incident.writes.order_by("-pk"))

    @cached_property
    def events(self) -> Sequence[tuple[Entry, str]]:
        """The incident's entries with their sentences, newest first, without its calls."""
        entries = Entry.objects.filter(incident_id=self.incident.pk).exclude(kind__in=NOT_IN_TIMELINE)
        return [(entry, sentences.sentence(entry)) for entry in entries.order_by("-seq")[:MOST_EVENTS]]

    @property
    def waiting(self) -> Sequence[Draft]:
        """The drafts that wait for a person."""
        return [draft for draft in self.drafts if draft.status in guards.OPEN]
