"""The probes that every write has: where it goes, when, and what goes on there."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from datetime import datetime
from decimal import Decimal, InvalidOperation

from django.db import connection
from django.db.models import QuerySet

from audit import twohands
from gate.admission import freezing, policies
from gate.admission.freezing import Window
from gate.triage.models import Incident
from gate.writes import target_admission, targets
from gate.writes.models import WriteRequest
from gate.writes.probes import about_sql
from gate.writes.probes.fact import Fact, Probe, Unknown, yes_no

REGISTRY, WINDOWS, INCIDENTS = "target registry", "freeze windows", "incidents"
Values = Mapping[str, Sequence[str | None]]
Spelled = Mapping[str, frozenset[str | None]]
Subject = Mapping[str, object]
BASED = re.compile(r"\s*[-+]?0[xob][0-9a-f_]+\s*", re.IGNORECASE)  # whole numbers as PostgreSQL 16 reads them
LARGEST = 10**18


def probes(write: WriteRequest) -> dict[str, Probe]:
    """By the question that each answers."""
    return {
        "environment": lambda: _environment(write), "frozen": lambda: frozen(write),
        "open_incident": lambda: open_incident(write),
    }  # fmt: skip


def _environment(write: WriteRequest) -> Fact:
    found = targets.of(write.target).environment
    return Fact(found, found, REGISTRY)


def frozen(write: WriteRequest) -> Fact:
    """Whether a window of its target, or of the policy that judges it, is open now."""
    now = _now()
    on = [one for one in _windows(write) if one.covers(now)]
    if on:
        return yes_no(True, f"until {on[0].ends:%Y-%m-%d %H:%M %Z}: {on[0].why}", WINDOWS)
    return yes_no(False, "none now", WINDOWS)


def _windows(write: WriteRequest) -> list[Window]:
    """The target's own, and those of the policy that judges it."""
    said = target_admission.of(write.target.body)
    policy = twohands.active(policies.KIND.name, said.policy)
    return [*said.freeze, *freezing.of(policy.body.get("freeze", ()) if policy else ())]


def _now() -> datetime:
    """By the clock of the database: a process may have a wrong one."""
    with connection.cursor() as cursor:
        cursor.execute("select clock_timestamp()")
        found: datetime = cursor.fetchone()[0]
    return found


def open_incident(write: WriteRequest) -> Fact:
    """The incident that it names, or one whose subject, or a member's, the statement names whole. Raises Unknown."""
    values = {name: _spellings(texts) for name, texts in _values(write).items()}
    known = list(_open().order_by("pk").values_list("pk", "subject", "members"))
    about = [pk for pk, own, others in known if pk == write.incident_id or _name_one(values, (own, *others))]
    if not about:
        _check_can_be_read(values, known)
    refs = [f"I-{number}" for number in about[:5]]
    return yes_no(bool(refs), ", ".join(refs) or "none on its subject", INCIDENTS)


def _check_can_be_read(values: Spelled, known: Sequence[tuple[int, Subject, list[Subject]]]) -> None:
    """Raises Unknown where an open incident may be about what only the database can work out."""
    hidden = {name for name, said in values.items() if None in said}
    if any(_name_one(values, (own, *others), besides=hidden) for _, own, others in known):
        raise Unknown(f"The statement holds {', '.join(sorted(hidden))} to an expression: an incident may be about it.")


def _open() -> QuerySet[Incident]:
    return Incident.objects.exclude(status=Incident.Status.CLOSED)


def _values(write: WriteRequest) -> Values:
    return about_sql.held_values(write) if targets.of(write.target).action is None else {}


def _name_one(values: Spelled, subjects: Sequence[Subject], besides: Set[str] = frozenset()) -> bool:
    """Whether the values are all those of one of the subjects, whatever the names `besides` stand for."""
    return any(
        bool(one) and all(name in besides or str(said) in values.get(name, ()) for name, said in one.items())
        for one in subjects
    )


def _spellings(texts: Sequence[str | None]) -> frozenset[str | None]:
    """The values as they stand there, and the numbers that PostgreSQL reads in them, as text."""
    whole = [_whole(text) for text in texts if text is not None]
    return frozenset(texts).union(str(one) for one in whole if one is not None)


def _whole(text: str) -> int | None:
    try:
        found = Decimal(int(text, 0)) if BASED.fullmatch(text) else Decimal(text)
    except (ValueError, InvalidOperation):
        return None
    is_whole = found.is_finite() and abs(found) < LARGEST and found == found.to_integral_value()
    return int(found) if is_whole else None
