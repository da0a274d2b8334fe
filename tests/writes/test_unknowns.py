from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from audit.models import Entry, Outbox
from audit.outbox import MOST_ATTEMPTS
from gate.writes import execution, tasks, unknowns
from gate.writes.models import Execution, WriteRequest
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


def lost_at(step: str, write: Any, monkeypatch: Any) -> Outbox:
    """The write whose writer died after that step each time, until its job was given up."""
    with monkeypatch.context() as patch:
        crash_after(patch, step)
        with pytest.raises(SystemExit):
            execution.execute(write.pk)
    write.refresh_from_db()
    assert write.status == "executing"
    return given_up(write, "executing", timedelta(0))


@pytest.mark.parametrize("step", ["_claim", "_commit"])
def test_a_write_whose_writer_was_lost_each_time_is_not_said_to_run(
    approved: Any, job: Any, monkeypatch: Any, client: Any, make_person: Any, step: str
) -> None:
    write = approved()
    open_job = lost_at(step, write, monkeypatch)
    tasks.expire_writes()
    write.refresh_from_db()
    assert (write.status, Execution.objects.get(write=write).state) == ("unknown", "unknown")
    entry = Entry.objects.get(subject=write.ref, kind="write.unknown")
    assert (entry.status, entry.error) == ("unknown", unknowns.LOST)
    client.force_login(make_person("vera", "viewer"))
    page = client.get(f"/writes/{write.pk}/").content.decode()
    assert "It is not known yet whether this was written." in page
    assert "The writer runs it now" not in page
    Outbox.objects.filter(pk=open_job.pk).update(gave_up_at=timezone.now() - timedelta(minutes=11))
    tasks.expire_writes()
    tasks.execute_write(open_job.pk)
    write.refresh_from_db()
    assert (write.status, job(7)) == ("executed", "queued")


def test_a_write_is_admitted_to_be_unknown_once(approved: Any, monkeypatch: Any) -> None:
    write = approved()
    lost_at("_claim", write, monkeypatch)
    for _ in range(2):
        unknowns.admit()
    assert Entry.objects.filter(subject=write.ref, kind="write.unknown").count() == 1


def test_a_write_whose_job_may_still_run_is_executing(approved: Any, monkeypatch: Any) -> None:
    write = approved()
    open_job = lost_at("_claim", write, monkeypatch)
    Outbox.objects.filter(pk=open_job.pk).update(gave_up_at=None)
    unknowns.admit()
    write.refresh_from_db()
    assert write.status == "executing"


def test_a_writer_that_stood_still_meanwhile_writes_nothing(approved: Any, job: Any, monkeypatch: Any) -> None:
    write = approved()
    check = execution._check_newest_attempt

    def stand_still(claim: Any) -> None:
        given_up(write, "executing", timedelta(0))
        unknowns.admit()
        check(claim)

    monkeypatch.setattr(execution, "_check_newest_attempt", stand_still)
    with pytest.raises(execution.TryAgain):
        execution.execute(write.pk)
    write.refresh_from_db()
    assert (write.status, job(7)) == ("unknown", "running")


def test_a_job_that_is_asked_again_has_one_more_try(approved: Any) -> None:
    open_job = given_up(approved(), "unknown", timedelta(minutes=11))
    unknowns.ask_again()
    open_job.refresh_from_db()
    assert (open_job.gave_up_at, open_job.attempts) == (None, MOST_ATTEMPTS - 1)
