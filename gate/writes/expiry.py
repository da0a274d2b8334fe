"""Writes that nobody decided about, or ran, in time."""

from __future__ import annotations

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from audit import log
from audit.kinds import Kind
from gate.writes import states
from gate.writes.models import WriteRequest

Status = WriteRequest.Status


def due() -> QuerySet[WriteRequest]:
    """Writes that could still run and whose time is over, by the clock of the database."""
    could = [Status.PROPOSED, Status.WAITING, Status.CHANGES_REQUESTED, Status.APPROVED]
    return WriteRequest.objects.filter(status__in=could, expires_at__lte=Now())


def expire() -> None:
    """Expire every write that is due, each in a transaction of its own. Safe to run twice at once."""
    for pk in due().values_list("pk", flat=True):
        _expire(pk)


@transaction.atomic
def _expire(pk: int) -> None:
    # Someone may have decided, or the writer claimed it, since the list was read.
    write = due().select_for_update().filter(pk=pk).first()
    if write is None:
        return
    states.move(write, Status.EXPIRED)
    log.record_with(
        Kind.WRITE_EXPIRED, log.Actor.process(), subject=write.ref, incident_id=write.incident_id,
        status="refused", summary="nobody acted on it in time",
    )  # fmt: skip
