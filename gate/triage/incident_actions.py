"""What people do to incidents. Each change is one function: lock, check, change, record."""

from __future__ import annotations

from django.db import IntegrityError, transaction
from django.utils import timezone

from audit import log
from audit.kinds import Kind
from gate.errors import NotAllowed
from gate.people.models import Person
from gate.triage import by_hand, ending, incident_guards, late, written
from gate.triage.models import Comment, Incident, Investigation


def _lock(pk: int) -> Incident:
    # Lock first, then check: a rule tested on an unlocked row can be untrue by the next line.
    return Incident.objects.select_for_update(of=("self",)).select_related("owner", "incident_class").get(pk=pk)


@transaction.atomic
def close(pk: int, *, by: Person, reason: str, seen_version: int) -> Incident:
    """Close an incident that nothing undecided hangs on. Raises Stale or NotAllowed."""
    incident = _lock(pk)
    incident_guards.check_is_seen(incident, seen_version)
    incident_guards.check_can_close(by, incident)
    incident.status, incident.closed_at, incident.version = Incident.Status.CLOSED, timezone.now(), seen_version + 1
    incident.save(update_fields=["status", "closed_at", "version"])
    written.settle(incident)
    _record(Kind.INCIDENT_CLOSED, incident, by, reason, reason=reason, seen_version=seen_version)
    return incident


def reopen(pk: int, *, by: Person, reason: str, seen_version: int) -> Incident:
    """Open a closed incident again. Raises Stale or NotAllowed, also when another one is open for the same thing."""
    try:
        return _reopen(pk, by, reason, seen_version)
    except IntegrityError as problem:
        raise NotAllowed(by_hand.already_open(Incident.objects.get(pk=pk).dedup_key)) from problem


@transaction.atomic
def _reopen(pk: int, by: Person, reason: str, seen_version: int) -> Incident:
    incident = _lock(pk)
    incident_guards.check_is_seen(incident, seen_version)
    incident_guards.check_can_reopen(by, incident)
    incident.status, incident.closed_at, incident.version = Incident.Status.REOPENED, None, seen_version + 1
    incident.save(update_fields=["status", "closed_at", "version"])
    late.count_reopening(incident, by)
    _record(Kind.INCIDENT_REOPENED, incident, by, reason, reason=reason, seen_version=seen_version)
    return incident


@transaction.atomic
def assign(pk: int, *, by: Person, to: Person | None, seen_version: int) -> Incident:
    """Give an incident to a person, or to nobody. Raises Stale or NotAllowed."""
    incident = _lock(pk)
    incident_guards.check_is_seen(incident, seen_version)
    incident_guards.check_can_assign(by, incident, to)
    before, incident.owner, incident.version = incident.owner, to, seen_version + 1
    incident.save(update_fields=["owner", "version"])
    names = {"from": before.username if before else None, "to": to.username if to else None}
    summary = f"to {to}" if to else "to nobody"
    _record(Kind.ASSIGNMENT_CHANGED, incident, by, summary, **names, seen_version=seen_version)
    return incident


@transaction.atomic
def comment(pk: int, *, by: Person, text: str) -> Comment:
    """Say something about an incident, open or closed. Raises NotAllowed."""
    incident = _lock(pk)
    incident_guards.check_can_discuss(by)
    receipt = _record(Kind.COMMENT_ADDED, incident, by, text, text=text)
    return Comment.objects.create(incident=incident, by=by, text=text, entry_seq=receipt.seq)


@transaction.atomic
def stop(pk: int, *, by: Person, reason: str) -> Investigation:
    """End a running investigation; its incident waits again. Raises NotAllowed."""
    running = Investigation.objects.select_for_update(of=("self",)).select_related("incident", "agent")
    investigation = running.get(pk=pk)
    incident_guards.check_can_stop(by, investigation)
    ending.end(investigation, by.actor(), reason)
    return investigation


def _record(kind: Kind, incident: Incident, by: Person, summary: str, **said: object) -> log.Recorded:
    return log.record_with(
        kind, by.actor(), subject=incident.ref, incident_id=incident.pk, summary=summary,
        args={"incident": incident.pk, "status": incident.status, **said},
    )  # fmt: skip
