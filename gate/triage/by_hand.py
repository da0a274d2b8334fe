"""A person opens an incident: what a monitor may say, a person may say, and it is checked the same way."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import IntegrityError, transaction

from audit import log
from evidence.errors import Problem
from gate.errors import NotAllowed
from gate.people.models import Person
from gate.triage import intake
from gate.triage.models import Incident

LONGEST_NAME = 100


@dataclass(frozen=True)
class Hand:
    """A person as the intake knows who reports."""

    person: Person

    @property
    def name(self) -> str:
        """No monitor can be called that: its name has no space. What a person opened, no monitor rewrites."""
        return f"{str(self.person)[:LONGEST_NAME]}, by hand"

    def actor(self) -> log.Actor:
        """The person in the log's words."""
        return self.person.actor()


def open_incident(report: intake.Report, *, by: Person) -> Incident:
    """Open an incident. Raises NotAllowed when it is not the person's to open, is open already, or cannot be."""
    if not by.has_perm("gate.open_incident"):
        raise NotAllowed("Your role opens no incidents; someone on call or an admin does.")
    key = intake.dedup_key(report)
    try:
        return _open(key, report, by)
    except Problem as problem:
        raise NotAllowed(problem.sentence) from problem
    except IntegrityError as problem:
        raise NotAllowed(already_open(key)) from problem


@transaction.atomic
def _open(key: str, report: intake.Report, by: Person) -> Incident:
    return intake.open_new(key, report, intake.checked(report), Hand(by))


def already_open(key: str) -> str:
    """The sentence about a key that an open incident has."""
    known = Incident.objects.filter(dedup_key=key, status__in=intake.OPEN).first()
    name = known.ref if known else "Another incident"
    return f"{name} is open for the same thing; add to it what you know."
