from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from audit.models import Outbox
from audit.outbox import MOST_ATTEMPTS
from gate.writes import execution, tasks, unknowns
from gate.writes.models import WriteRequest
from tests.writes.test_execution import crash_after

pytestmark = pytest.mark.django_db


def given_up(write: Any, status: str, ago: timedelta) -> Outbox:
    """The write in that status, and its job as the outbox leaves it."""
    WriteRequest.objects.filter(pk=write.pk).update(status=status)
    job = Outbox.objects.get(task=unknowns.EXECUTE, subject_id=write.pk)
    Outbox.objects.filter(pk=job.pk).update(attempts=MOST_ATTEMPTS, gave_up_at=timezone.now() - ago)
    return job


def test_a_target_that_was_away_for_long_is_asked_in_the_end(approved: Any, job: Any, monkeypatch: Any) -> None:
    write = approved()
    with monkeypatch.context() as patch:
        crash_after(patch, "_commit")
        with pytest.raises(SystemExit):
            execution.execute(write.pk)
    with monkeypatch.context() as patch:
        patch.setenv("WRITES_TEST_DSN", "host=/nowhere dbname=shop")
        with pytest.raises(execution.TryAgain):
            execution.execute(write.pk)
    open_job = given_up(write, "unknown", timedelta(minutes=11))
    tasks.expire_writes()
    tasks.execute_write(open_job.pk)
    write.refresh_from_db()
    assert (write.status, job(7)) == ("executed", "queued")


@pytest.mark.parametrize(("status", "minutes"), [("unknown", 9), ("executing", 60), ("executed", 60), ("waiting", 60)])
def test_nothing_else_is_asked_again(approved: Any, status: str, minutes: int) -> None:
    open_job = given_up(approved(), status, timedelta(minutes=minutes))
    unknowns.ask_again()
    open_job.refresh_from_db()
    assert open_job.gave_up_at is not None


def test_a_job_that_is_asked_again_has_one_more_try(approved: Any) -> None:
    open_job = given_up(approved(), "unknown", timedelta(minutes=11))
    unknowns.ask_again()
    open_job.refresh_from_db()
    assert (open_job.gave_up_at, open_job.attempts) == (None, MOST_ATTEMPTS - 1)
