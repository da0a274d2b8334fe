"""Writes of which nobody knows yet whether they ran: the writer asks on, long after a job is given up."""

from __future__ import annotations

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from audit import log, outbox
from audit.kinds import Kind
from audit.models import Outbox
from audit.outbox import MOST_ATTEMPTS
from gate.writes import states
from gate.writes.models import Execution, WriteRequest

EXECUTE = "gate.writes.tasks.execute_write"
LOST = f"The writer was lost {MOST_ATTEMPTS} times while it ran this, and could not say whether it was written."

Status = WriteRequest.Status
State = Execution.State


def ask_again() -> None:
    """Let each job of an unknown write run once more when it was given up a while ago. Safe to run twice at once."""
    outbox.resume(EXECUTE, WriteRequest.objects.filter(status=Status.UNKNOWN).values("pk"))


def admit() -> None:
    """Say of a write that nobody runs any more that it is not known. Safe to run twice at once.

    A writer that dies at work says nothing, and once its job is given up nobody else would: it would be shown as
    executing for ever.
    """
    for pk in _deserted().values_list("pk", flat=True):
        _admit(pk)


def _deserted() -> QuerySet[WriteRequest]:
    given_up = Outbox.objects.filter(task=EXECUTE, subject_id=OuterRef("pk"), gave_up_at__isnull=False)
    return WriteRequest.objects.filter(Exists(given_up), status=Status.EXECUTING)


@transaction.atomic
def _admit(pk: int) -> None:
    # An attempt may have ended, or been asked for again, since the list was read.
    write = _deserted().select_for_update(of=("self",)).filter(pk=pk).first()
    if write is None:
        return
    # A writer that only stood still finds its attempt taken from it, and stops before its commit.
    Execution.objects.filter(write=write, state=State.CLAIMED).update(
        state=State.UNKNOWN, finished_at=timezone.now(), error=LOST
    )
    states.move(write, Status.UNKNOWN)
    log.record_with(
        Kind.WRITE_UNKNOWN, log.Actor.process(), subject=write.ref, incident_id=write.incident_id,
        status="unknown", error=LOST, summary=LOST,
    )  # fmt: skip
