"""How incidents come in: a monitor reports, with a token that opens incidents and does nothing else."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Protocol

from django.db import IntegrityError, transaction
from django.utils import timezone

from audit import log, masking, tokens, twohands
from audit.kinds import Kind
from audit.models import Definition
from evidence import arguments, recording
from evidence.errors import Problem
from gate.triage import classes, late
from gate.triage.models import Incident, IntakeToken

TOKEN_PREFIX = "csi"
CLOCK_SKEW = timedelta(minutes=5)  # how far a monitor's clock may run ahead of ours
LONGEST_AGO = timedelta(days=3650)  # the first and last years that a clock can say cannot be shown in every zone
LONGEST_KEY = 200
MOST_MEMBERS = 100  # more than that are counted, not named: such an incident is for people
OPEN = (Incident.Status.OPEN, Incident.Status.INVESTIGATING, Incident.Status.DRAFTED, Incident.Status.REOPENED)


@dataclass(frozen=True)
class Monitor:
    """An authenticated intake token, as one request knows it."""

    name: str

    is_authenticated = True  # what REST framework's permission asks for

    def actor(self) -> log.Actor:
        """The monitor in the log's words."""
        return log.Actor("monitor", self.name, self.name)


class Reporter(Protocol):
    """Whoever opens an incident: a monitor, or a person."""

    @property
    def name(self) -> str:
        """As the incident keeps it."""
        ...

    def actor(self) -> log.Actor:
        """As the log names it."""
        ...


@dataclass(frozen=True)
class Report:
    """What a monitor says, after its form was checked."""

    incident_class: str
    title: str
    subject: dict[str, Any]
    began_at: datetime
    facts: dict[str, Any] = field(default_factory=dict)
    recovered_at: datetime | None = None
    severity: str = ""
    dedup_key: str = ""
    is_resolved: bool = False
    members: list[dict[str, Any]] = field(default_factory=list)
    undelivered: int = 0


@transaction.atomic
def issue_token(name: str, by: log.Actor) -> str:
    """A new intake token. The answer is the only time it can be read. Raises ValueError when the name is taken."""
    if IntakeToken.objects.filter(name=name).exists():
        raise ValueError(f"An intake token named {name} exists; choose another name.")
    token, kept = tokens.draw(TOKEN_PREFIX)
    IntakeToken.objects.create(name=name, digest=kept)
    log.record_with(
        Kind.TOKEN_ISSUED, by, subject=f"intake {name}", summary="an intake token", args={"intake": name}
    )  # fmt: skip
    return token


@transaction.atomic
def revoke_token(token_id: int, *, by: log.Actor) -> IntakeToken:
    """Make a token useless from now on. Revoking it again changes nothing. Raises IntakeToken.DoesNotExist."""
    token = IntakeToken.objects.select_for_update().get(pk=token_id)
    if token.revoked_at is None:
        token.revoked_at = timezone.now()
        token.save(update_fields=["revoked_at"])
        log.record_with(
            Kind.TOKEN_REVOKED, by, subject=f"intake {token.name}", summary="an intake token",
            args={"intake": token.name},
        )  # fmt: skip
    return token


def authenticate(token: str) -> Monitor | None:
    """The monitor behind a bearer token, or None when it is unknown or revoked."""
    names = IntakeToken.objects.filter(digest=tokens.digest(token), revoked_at=None).values_list("name", flat=True)
    name = names.first()
    return None if name is None else Monitor(name)


def receive(report: Report, by: Monitor) -> tuple[Incident, bool]:
    """Open an incident, or tell the open one with the same key what is new. The second says whether it was opened.

    Raises Problem: an unknown class, a subject that is not one of its, or times that cannot be.
    """
    definition = checked(report)
    try:
        return _take(report, definition, by)
    except IntegrityError:
        # Two reports of one thing came at once, and the other was first: tell the incident that it opened.
        return _take(report, definition, by)


def record_refusal(by: Monitor, problem: Problem, said: Any) -> None:
    """A report that was not taken is an entry too. Raises Problem when it could not be committed."""
    recording.refusal(by, problem, {"tool": "intake", "args": _kept(said)})


def _kept(said: Any) -> Any:
    return None if arguments.is_deep(said) else masking.mask(said)


def checked(report: Report) -> Definition:
    """The version in force of the report's class. Raises Problem when there is none, or the report cannot be."""
    definition = twohands.active("class", report.incident_class)
    if definition is None:
        raise Problem(422, "unknown_class", f"There is no incident class {report.incident_class}; an admin defines it.")
    _check(report, classes.parse(definition.body))
    return definition


def _check(report: Report, means: classes.IncidentClass) -> None:
    for subject in (report.subject, *report.members):
        sentence = means.misfit(subject)
        if sentence:
            raise Problem(422, "wrong_subject", sentence)
    sentence = means.misfit_of_facts(report.facts)
    if sentence:
        raise Problem(422, "wrong_facts", sentence)
    if report.began_at > timezone.now() + CLOCK_SKEW:
        raise Problem(422, "wrong_time", "began_at lies in the future; check the monitor's clock.")
    if report.began_at < timezone.now() - LONGEST_AGO:
        raise Problem(422, "wrong_time", "began_at lies more than ten years back; check the monitor's clock.")
    if report.recovered_at is not None and report.recovered_at < report.began_at:
        raise Problem(422, "wrong_time", "recovered_at lies before began_at.")
    if report.recovered_at is not None and report.recovered_at > timezone.now() + CLOCK_SKEW:
        raise Problem(422, "wrong_time", "recovered_at lies in the future; check the monitor's clock.")


@transaction.atomic
def _take(report: Report, definition: Definition, by: Monitor) -> tuple[Incident, bool]:
    key = report.dedup_key or dedup_key(report)
    known = Incident.objects.select_for_update(of=("self",)).filter(dedup_key=key, status__in=OPEN).first()
    if known is not None:
        return _join(known, report, by), False
    again = late.reopen_watched(key, report.incident_class, _recovery(report), by.name)
    if again is not None:
        return _came_back(Incident.objects.get(pk=again), report, by), False
    if report.is_resolved:
        raise Problem(404, "not_open", "No open incident has this key, so there is nothing that could be resolved.")
    return open_new(key, report, definition, by), True


def _recovery(report: Report) -> datetime | None:
    """When the report says that it was over; None while it goes on."""
    if not report.is_resolved:
        return None
    # One that does not say when says nothing about the time after the pass.
    return report.recovered_at or report.began_at


def _came_back(incident: Incident, report: Report, by: Monitor) -> Incident:
    _record(Kind.INCIDENT_REOPENED, incident, report, by, "reported while its pass was watched: it counts as false")
    _widen(incident, report)
    return incident


def dedup_key(report: Report) -> str:
    """The key of a report that brings none: its class and its subject. One too long to be kept is hashed, never cut."""
    key = f"{report.incident_class}:{twohands.canonical_body(report.subject)}"
    return key if len(key) <= LONGEST_KEY else hashlib.sha256(key.encode()).hexdigest()


def open_new(key: str, report: Report, definition: Definition, by: Reporter) -> Incident:
    """An incident with its entry, in the caller's transaction. Raises IntegrityError when one of the key is open."""
    means = classes.parse(definition.body)
    incident = Incident.objects.create(
        kind=means.kind, incident_class=definition, title=report.title, severity=report.severity or means.severity,
        subject=report.subject, facts=report.facts, dedup_key=key, began_at=report.began_at,
        watch_from=report.recovered_at or report.began_at, opened_by=by.name, members=report.members,
        undelivered=report.undelivered,
    )  # fmt: skip
    _record(Kind.INCIDENT_OPENED, incident, report, by, f"{report.incident_class}: {report.title}")
    return incident


def _join(incident: Incident, report: Report, by: Monitor) -> Incident:
    """Take a report of something that is open already. Raises Problem when its key was drawn for something else."""
    if incident.incident_class.name != report.incident_class:
        raise Problem(409, "other_class", "The open incident of this key is of another class; use another dedup_key.")
    _widen(incident, report)
    if incident.opened_by == by.name:
        return _tell(incident, report, by)
    # A key is not a secret: what one monitor opened, another does not rewrite under the eyes of who reviews it.
    _record(Kind.INCIDENT_UPDATED, incident, report, by, "reported by another monitor too; nothing was changed")
    return incident


def _widen(incident: Incident, report: Report) -> None:
    """Take in what this report is about besides. Whoever says so, an incident only gets wider: that closes nothing."""
    known = [twohands.canonical_body(subject) for subject in (incident.subject, *incident.members)]
    new = [one for one in (report.subject, *report.members) if twohands.canonical_body(one) not in known]
    if len(incident.members) + len(new) > MOST_MEMBERS:
        new, report = [], replace(report, undelivered=report.undelivered + len(new))
    if new or report.undelivered > incident.undelivered:
        incident.members = [*incident.members, *new]
        incident.undelivered = max(incident.undelivered, report.undelivered)
        incident.save(update_fields=["members", "undelivered"])


def _tell(incident: Incident, report: Report, by: Monitor) -> Incident:
    if report.is_resolved:
        # A report of recovery is a report. It closes nothing, and no check reads it.
        incident.reported_resolved_at = timezone.now()
        incident.save(update_fields=["reported_resolved_at"])
        _record(Kind.INCIDENT_REPORTED_RESOLVED, incident, report, by, "reported resolved; nothing was closed")
        return incident
    incident.title, incident.severity = report.title, report.severity or incident.severity
    incident.save(update_fields=["title", "severity"])
    _record(Kind.INCIDENT_UPDATED, incident, report, by, "reported again")
    return incident


def _record(kind: Kind, incident: Incident, report: Report, by: Reporter, summary: str) -> None:
    said = {
        "class": report.incident_class, "title": report.title, "subject": report.subject, "facts": report.facts,
        "began_at": classes.spelled(report.began_at), "dedup_key": incident.dedup_key,
        "recovered_at": classes.spelled(report.recovered_at) if report.recovered_at else None,
        "severity": incident.severity, "status": "resolved" if report.is_resolved else "firing",
        "members": report.members, "undelivered": report.undelivered,
    }  # fmt: skip
    log.record_with(
        kind, by.actor(), subject=incident.ref, incident_id=incident.pk, summary=summary,
        args=masking.mask(said), result={"incident": incident.pk, "class_version": incident.incident_class.version},
    )  # fmt: skip
