"""Holds: what is recorded about an incident, or in a month, is neither dropped nor redacted while one lies on it."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from audit import log, vouching
from audit.kinds import Kind
from audit.models import Entry, Hold
from audit.refusing import NotAllowed, recorded_refusal

PERMISSION = "audit.hold"


def standing() -> list[Hold]:
    """The holds that were not lifted, newest first."""
    return list(Hold.objects.filter(lifted_at=None).select_related("held_by").order_by("-pk"))


def lifted() -> list[Hold]:
    """The holds that were lifted, newest first."""
    return list(Hold.objects.exclude(lifted_at=None).select_related("held_by", "lifted_by").order_by("-lifted_at")[:50])


def of_incident(incident_id: int) -> list[Hold]:
    """The holds that lie on an incident."""
    return list(Hold.objects.filter(lifted_at=None, incident_id=incident_id).select_related("held_by").order_by("pk"))


def on_entry(entry: Entry) -> list[Hold]:
    """The holds that lie on an entry: on its incident, or on the month that its key was made in."""
    made = datetime.fromtimestamp((entry.pk.int >> 80) / 1000, UTC)
    month = Hold.objects.filter(lifted_at=None, month=date(made.year, made.month, 1))
    return [*month, *(of_incident(entry.incident_id) if entry.incident_id is not None else [])]


@transaction.atomic
def hold(*, by: Any, reason: str, incident_id: int | None = None, month: date | None = None) -> Hold:
    """Put a hold on an incident or on a month. Raises NotAllowed."""
    made = Hold(incident_id=incident_id, month=month, reason=reason, held_by=by)
    with recorded_refusal(Kind.LOG_HELD, by, made.subject, act="hold"):
        check_may_hold(by)
    made.save()
    _record(made, by, "held", reason)
    return made


@transaction.atomic
def lift(pk: int, *, by: Any, reason: str) -> Hold:
    """Lift a hold. Raises NotAllowed, and Hold.DoesNotExist."""
    found = Hold.objects.select_for_update().get(pk=pk)
    with recorded_refusal(Kind.LOG_HELD, by, found.subject, act="lift", hold=pk):
        check_may_hold(by)
        if found.lifted_at is not None:
            raise NotAllowed("This hold was lifted already.")
    found.lifted_by, found.lifted_at, found.why_lifted = by, timezone.now(), reason
    found.save(update_fields=["lifted_by", "lifted_at", "why_lifted"])
    _record(found, by, "lifted", reason)
    return found


def check_may_hold(by: Any) -> None:
    """Raises NotAllowed when the role of `by` puts and lifts no holds."""
    if not by.has_perm(PERMISSION):
        raise NotAllowed("Your role puts and lifts no holds; ask an admin or an auditor.")


def _record(of: Hold, by: Any, act: str, reason: str) -> None:
    log.record_with(
        Kind.LOG_HELD, log.Actor.person(by), subject=of.subject, incident_id=of.incident_id,
        summary=f"{act}: {reason}",
        args={"hold": of.pk, "act": act, "subject": of.subject, "reason": reason, "rows": vouching.rows(of)},
    )  # fmt: skip
