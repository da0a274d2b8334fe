"""Whether this installation is at work, for load balancers and for `manage.py up`."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.db import Error, connection
from django.db.models import Min
from django.http import HttpRequest, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from audit import disk, heartbeats, relay, retention
from audit.models import Outbox

RELAY_IS_LATE = timedelta(seconds=15)
JOB_IS_LATE = timedelta(seconds=30)


@login_not_required
@never_cache
@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """200 when the database answers, the relay is at work and no job waits for it; else 503 with what is wrong."""
    try:
        seen = measure()
    except Error as error:
        connection.close()
        why = disk.said_of(error) or "The database does not answer."
        return JsonResponse({"ok": False, "wrong": [why]}, status=503)
    wrong = what_is_wrong(seen)
    # Stray rows are recorded and sealed like any others: somebody has to look, and nobody has to be sent away.
    stray = retention.default_sentence(seen["default_partition_rows"])
    warnings = [stray] if stray else []
    return JsonResponse({"ok": not wrong, "wrong": wrong, "warnings": warnings, **seen}, status=503 if wrong else 200)


def measure() -> dict[str, Any]:
    """The ages in seconds that decide, None where there is nothing to measure; and rows where none should be."""
    oldest = Outbox.objects.filter(sent_at=None, done_at=None, gave_up_at=None).aggregate(at=Min("created_at"))["at"]
    ages = heartbeats.ages()
    return {
        "relay_heartbeat_seconds": ages.pop(relay.NAME, None),
        "oldest_unsent_seconds": (timezone.now() - oldest).total_seconds() if oldest else None,
        "workers_heartbeat_seconds": ages,
        "default_partition_rows": retention.default_rows(),
        "is_disk_full": disk.is_full(),
    }


def what_is_wrong(seen: dict[str, Any]) -> list[str]:
    """A sentence for each reason to answer 503."""
    wrong = ["The disk that holds the database is full."] if seen["is_disk_full"] else []
    relay_age, job_age = seen["relay_heartbeat_seconds"], seen["oldest_unsent_seconds"]
    if relay_age is None:
        wrong.append("The relay has never run.")
    elif relay_age > RELAY_IS_LATE.total_seconds():
        wrong.append(f"The relay was last seen {relay_age:.0f} s ago.")
    if job_age is not None and job_age > JOB_IS_LATE.total_seconds():
        wrong.append(f"A job has waited {job_age:.0f} s to be sent.")
    return wrong
