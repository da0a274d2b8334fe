"""The probes that every write has: where it goes, when, and what goes on there."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from django.db import connection
from django.db.models import Q, QuerySet

from audit import twohands
from gate.admission import freezing, policies
from gate.admission.freezing import Window
from gate.triage.models import Incident
from gate.writes import target_admission, targets
from gate.writes.models import WriteRequest
from gate.writes.probes import about_sql
from gate.writes.probes.fact import Fact, Probe, yes_no

REGISTRY, WINDOWS, INCIDENTS = "target registry", "freeze windows", "incidents"


def probes(write: WriteRequest) -> dict[str, Probe]:
    """By the question that each answers."""
    return {
        "environment": lambda: _environment(write), "frozen": lambda: _frozen(write),
        "open_incident": lambda: _open_incident(write),
    }  # fmt: skip


def _environment(write: WriteRequest) -> Fact:
    found = targets.of(write.target).environment
    return Fact(found, found, REGISTRY)


def _frozen(write: WriteRequest) -> Fact:
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


def _open_incident(write: WriteRequest) -> Fact:
    """The incident that it names, or one whose subject the statement names."""
    found = _open().filter(Q(pk=write.incident_id) | _about(_values(write))).order_by("pk")
    refs = [f"I-{number}" for number in found.values_list("pk", flat=True)[:5]]
    return yes_no(bool(refs), ", ".join(refs) or "none on its subject", INCIDENTS)


def _open() -> QuerySet[Incident]:
    return Incident.objects.exclude(status=Incident.Status.CLOSED)


def _values(write: WriteRequest) -> Mapping[str, str]:
    return about_sql.held_values(write) if targets.of(write.target).action is None else {}


def _about(values: Mapping[str, str]) -> Q:
    """Whose subject is one of these values, under the same name. A number may be one there, or text."""
    subjects: list[dict[str, object]] = [{name: value} for name, value in values.items()]
    subjects += [{name: int(value)} for name, value in values.items() if value.isdecimal() and len(value) < 19]
    return Q(subject__in=subjects) if subjects else Q(pk=None)
