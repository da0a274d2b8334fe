"""Writes of which nobody knows yet whether they ran: the writer asks on, long after a job is given up."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from audit.models import Outbox
from audit.outbox import MOST_ATTEMPTS
from gate.writes.models import WriteRequest

EXECUTE = "gate.writes.tasks.execute_write"
ASK_AFTER = timedelta(minutes=10)


def ask_again() -> None:
    """Let each job of an unknown write run once more when it was given up a while ago. Safe to run twice at once.

    A target may be away for hours. A write that is executing is left alone: what stops its writer may do so each time.
    """
    unknown = WriteRequest.objects.filter(status=WriteRequest.Status.UNKNOWN).values("pk")
    given_up = Outbox.objects.filter(task=EXECUTE, subject_id__in=unknown, gave_up_at__lt=timezone.now() - ASK_AFTER)
    given_up.update(gave_up_at=None, attempts=MOST_ATTEMPTS - 1)
