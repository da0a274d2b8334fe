from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone

from audit import outbox
from audit.models import Outbox


@pytest.fixture
def job(db) -> int:
    outbox.enqueue("gate.test", "verdicts", 7)
    return Outbox.objects.get(task="gate.test").pk


@pytest.mark.django_db
def test_asking_twice_for_one_subject_is_one_job(job) -> None:
    outbox.enqueue("gate.test", "verdicts", 7)
    assert Outbox.objects.filter(task="gate.test").count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_job_goes_with_the_transaction_that_asked_for_it() -> None:
    with transaction.atomic():
        outbox.enqueue("gate.test", "verdicts", 8)
        transaction.set_rollback(True)
    assert not Outbox.objects.filter(subject_id=8).exists()


@pytest.mark.django_db
@pytest.mark.parametrize("run", [outbox.run, outbox.run_stepwise])
def test_a_job_runs_once(job, run) -> None:
    seen: list[int] = []
    run("gate.test", job, seen.append)
    run("gate.test", job, seen.append)
    assert seen == [7]
    done = Outbox.objects.get(pk=job)
    assert (done.attempts, done.done_at is not None, done.heartbeat_at is not None) == (1, True, True)


@pytest.mark.django_db
def test_a_job_that_is_not_there_does_nothing() -> None:
    outbox.run("gate.test", 10**12, lambda subject: pytest.fail("ran"))


@pytest.mark.django_db
@pytest.mark.parametrize("run", [outbox.run, outbox.run_stepwise])
def test_a_failed_attempt_leaves_the_job_open_and_is_counted(job, run) -> None:
    def fail(subject: int) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run("gate.test", job, fail)
    left = Outbox.objects.get(pk=job)
    assert (left.attempts, left.done_at) == (1, None)


@pytest.mark.django_db
def test_a_job_that_never_finishes_is_given_up_and_says_so(job) -> None:
    Outbox.objects.filter(pk=job).update(attempts=outbox.MOST_ATTEMPTS)
    outbox.run("gate.test", job, lambda subject: pytest.fail("ran"))
    given_up = Outbox.objects.get(pk=job)
    assert given_up.gave_up_at is not None
    assert "never finished" in given_up.error


@pytest.mark.django_db(transaction=True)
def test_two_workers_with_one_job_do_it_once() -> None:
    outbox.enqueue("gate.test", "verdicts", 9)
    job = Outbox.objects.get(subject_id=9).pk
    seen: list[int] = []
    barrier = threading.Barrier(2)

    def work() -> None:
        barrier.wait()
        outbox.run("gate.test", job, seen.append)
        connection.close()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [9]


@pytest.mark.django_db
def test_the_effect_and_done_commit_together(job) -> None:
    def half(subject: int) -> None:
        outbox.enqueue("gate.follow_up", "verdicts", subject)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        outbox.run("gate.test", job, half)
    assert not Outbox.objects.filter(task="gate.follow_up").exists()


@pytest.mark.django_db
@pytest.mark.parametrize("run", [outbox.run, outbox.run_stepwise])
def test_a_message_with_another_tasks_job_does_nothing(job, run) -> None:
    run("gate.another", job, lambda subject: pytest.fail("ran"))
    untouched = Outbox.objects.get(pk=job)
    assert (untouched.attempts, untouched.done_at, untouched.gave_up_at) == (0, None, None)


@pytest.mark.django_db
@pytest.mark.parametrize(("minutes", "attempts"), [(9, outbox.MOST_ATTEMPTS), (11, outbox.MOST_ATTEMPTS - 1)])
def test_a_job_that_was_given_up_a_while_ago_has_one_more_try(job, minutes: int, attempts: int) -> None:
    gave_up_at = timezone.now() - timedelta(minutes=minutes)
    Outbox.objects.filter(pk=job).update(attempts=outbox.MOST_ATTEMPTS, gave_up_at=gave_up_at)
    outbox.resume("gate.other", Outbox.objects.values("subject_id"))
    outbox.resume("gate.test", Outbox.objects.none().values("subject_id"))
    assert Outbox.objects.get(pk=job).attempts == outbox.MOST_ATTEMPTS
    outbox.resume("gate.test", Outbox.objects.filter(pk=job).values("subject_id"))
    resumed = Outbox.objects.get(pk=job)
    assert (resumed.attempts, resumed.gave_up_at is None) == (attempts, minutes > 10)
