"""When our processes were last seen at work."""

from __future__ import annotations

from django.utils import timezone

from audit.models import Heartbeat


def beat(process: str) -> None:
    """Say that `process` is at work now."""
    Heartbeat.objects.bulk_create(
        [Heartbeat(process=process, at=timezone.now())],
        update_conflicts=True,
        unique_fields=["process"],
        update_fields=["at"],
    )


def ages() -> dict[str, float]:
    """Seconds since each process was last seen."""
    now = timezone.now()
    return {process: (now - at).total_seconds() for process, at in Heartbeat.objects.values_list("process", "at")}
