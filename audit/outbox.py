"""Jobs asked for in a transaction and run at least once. Nothing publishes to the broker in a request."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from audit import work as at_work
from audit.models import Outbox

CHANNEL = "audit_outbox"
MOST_ATTEMPTS = 8  # a job that kills its worker each time stops here and is shown, instead of looping for ever
STALE_AFTER = timedelta(seconds=15)  # without a heartbeat for so long, a job that was sent is sent again
RESUME_AFTER = timedelta(minutes=10)


def enqueue(task: str, queue: str, subject_id: int) -> None:
    """Ask for `task` to run on `subject_id`, in the caller's transaction. Asking twice for one subject is one job."""
    with connection.cursor() as cursor:
        # Only these columns are granted: who asks for a job cannot call it sent or done.
        cursor.execute(
            "insert into audit_outbox (task, queue, subject_id) values (%s, %s, %s) on conflict do nothing",
            [task, queue, subject_id],
        )
        cursor.execute("select pg_notify(%s, '')", [CHANNEL])


def run(task: str, job_id: int, work: Callable[[int], None]) -> None:
    """Run `work(subject_id)` unless the job is done; its effect on our database and "done" commit together.

    A job of another task is left alone: a message that names it so was forged. Safe to call twice at once: the second
    caller waits for the row and then finds it done.
    """
    if _begin(task, job_id) is None:
        return
    with transaction.atomic():
        job = Outbox.objects.select_for_update().get(pk=job_id)
        if job.done_at is None and job.gave_up_at is None:
            work(job.subject_id)
            _finish(job_id)


def run_stepwise(task: str, job_id: int, work: Callable[[int], None]) -> None:
    """Run `work(subject_id)` unless the job is done, outside of a transaction.

    For work that commits step by step and in other databases: it MUST be idempotent by itself, also twice at once.
    """
    subject_id = _begin(task, job_id)
    if subject_id is not None:
        work(subject_id)
        _finish(job_id)


def run_in_slices(task: str, job_id: int, work: Callable[[int], bool]) -> None:
    """Run `work(subject_id)` again and again until it says that it is done, with other jobs of the queue in between.

    Each slice commits by itself what it has done, and MUST be safe to run twice, also twice at once.
    """
    subject_id = _begin(task, job_id)
    if subject_id is None:
        return
    if work(subject_id):
        _finish(job_id)
        return
    # As if it had never been sent: the relay sends it after whatever waits by now. This attempt did not fail.
    Outbox.objects.filter(pk=job_id).update(sent_at=None, attempts=0)
    with connection.cursor() as cursor:
        cursor.execute("select pg_notify(%s, '')", [CHANNEL])


def resume(task: str, subjects: QuerySet[Any]) -> None:
    """Give each job of these subjects that was given up a while ago one more try. Safe to run twice at once.

    What stopped its worker each time may have passed: a machine without memory, a target that was away.
    """
    long_ago = timezone.now() - RESUME_AFTER
    given_up = Outbox.objects.filter(task=task, subject_id__in=subjects, gave_up_at__lt=long_ago)
    given_up.update(gave_up_at=None, attempts=MOST_ATTEMPTS - 1)


def _finish(job_id: int) -> None:
    Outbox.objects.filter(pk=job_id).update(done_at=timezone.now(), error="")


def _begin(task: str, job_id: int) -> int | None:
    """Count the attempt and leave a heartbeat, committed before the work starts so that a crash cannot undo it.

    The subject to work on, or None when the job is done, was given up, or is another task's.
    """
    open_job = Outbox.objects.filter(pk=job_id, task=task, done_at=None, gave_up_at=None)
    if open_job.filter(attempts__lt=MOST_ATTEMPTS).update(attempts=F("attempts") + 1, heartbeat_at=timezone.now()):
        subject_id = Outbox.objects.values_list("subject_id", flat=True).get(pk=job_id)
        # Until the next job begins: Celery says how this one ended only after our code is done.
        at_work.begin(job=str(job_id), task=task, subject=str(subject_id))
        return int(subject_id)
    open_job.update(gave_up_at=timezone.now(), error=f"It was tried {MOST_ATTEMPTS} times and never finished.")
    return None
