"""Threats to the execution: an approval that is over, a writer or server that dies, forged messages, false reports."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from audit import outbox
from audit.models import Entry, Outbox
from gate.config.celery import app as celery
from gate.errors import NotAllowed
from gate.writes import deciding, desk, execution, ledger, tasks, unknowns
from gate.writes.models import Decision, Execution, WriteRequest
from tests.writes import crashing
from tests.writes.conftest import BODY
from tests.writes.test_execution import crash_after, run
from tests.writes.test_kills import STEPS, child, effects, job_of

__all__ = ["child"]  # a fixture
pytestmark = pytest.mark.django_db


# 18. An expired approval runs.


@pytest.mark.parametrize("where", ["_claim", "_enter"])
def test_a_writer_that_wakes_up_after_the_expiry_runs_nothing(
    previewed: Any, approve: Any, monkeypatch: Any, shop: Any, where: str
) -> None:
    monkeypatch.setattr(deciding, "APPROVAL_LASTS", timedelta(seconds=1))
    write = previewed()
    approve(write)
    kept = getattr(execution, where)

    def frozen(*given: Any) -> Any:
        with connection.cursor() as cursor:
            cursor.execute("select pg_sleep(1.2)")
        return kept(*given)

    monkeypatch.setattr(execution, where, frozen)
    assert run(write)[0] == "expired"
    assert effects(shop) == 0


def test_a_writer_whose_clock_is_ten_minutes_late_runs_nothing(
    previewed: Any, approve: Any, monkeypatch: Any, shop: Any
) -> None:
    monkeypatch.setattr(deciding, "APPROVAL_LASTS", timedelta(seconds=1))
    write = previewed()
    approve(write)
    with connection.cursor() as cursor:
        cursor.execute("select pg_sleep(1.1)")
    now = timezone.now
    monkeypatch.setattr(timezone, "now", lambda: now() - timedelta(minutes=10))
    assert run(write)[0] == "expired"
    assert effects(shop) == 0


# 19. The executor is killed in the middle. With a ledger: test_kills. At random: test_random_kills.


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("step", STEPS)
def test_a_writer_killed_at_any_step_without_a_ledger_leaves_one_effect(
    approved: Any, define: Any, shop: Any, child: Any, step: str
) -> None:
    define("target", "shop", {**BODY, "ledger": None})
    write = approved()
    assert child(job_of(write), step, "SIGKILL").wait(60) == -signal.SIGKILL
    assert effects(shop) == int(STEPS[step])
    assert child(job_of(write)).wait(60) == 0
    write.refresh_from_db()
    assert (write.status, effects(shop)) == ("executed", 1)


# 20. The target's server crashes, and gives the transaction's number to another one.


@pytest.fixture
def crashing_shop(shop: Any, monkeypatch: Any, define: Any) -> Iterator[crashing.Server]:
    """The shop without a ledger on a server that can be crashed."""
    with crashing.server() as server:
        monkeypatch.setenv("WRITES_TEST_DSN", server.dsn)
        define("target", "crashing", {**BODY, "ledger": None})
        yield server


def test_a_number_that_was_noted_is_not_given_to_another_transaction_by_a_crash(
    crashing_shop: crashing.Server, approved: Any, monkeypatch: Any
) -> None:
    write = approved(target="crashing")
    with crashing_shop.superuser() as shop:
        shop.execute("checkpoint")
    with monkeypatch.context() as patch:
        crash_after(patch, "_note")
        with pytest.raises(SystemExit):
            execution.execute(write.pk)
    crashing_shop.crash()
    noted = Execution.objects.get(write=write).noted
    assert noted is not None
    with crashing_shop.superuser() as shop:
        for _ in range(20):  # unrelated ones, which would take the number
            shop.execute("update shop.jobs set attempts = attempts where job_id = 8")
        assert effects(shop) == 20
        status, done = run(write)
        assert done is not None
        assert (status, done.attempt, effects(shop)) == ("executed", 2, 21)
        assert int(done.target_xid) > int(noted["xid"])
        assert shop.execute("select state from shop.jobs where job_id = 7").fetchone() == ("queued",)


# 21. A compromised worker puts messages on the broker.


def test_messages_are_data_and_a_forged_one_runs_nothing(previewed: Any, propose: Any, shop: Any) -> None:
    assert list(celery.conf.accept_content) == ["json"]
    waiting, bare = previewed(), propose("delete from shop.jobs where job_id = 8")
    for number in (0, -1, 10**12, waiting.pk):
        tasks.execute_write(number)
    for write in (waiting, bare):
        outbox.enqueue(unknowns.EXECUTE, "writes", write.pk)
        tasks.execute_write(job_of(write))
        WriteRequest.objects.filter(pk=write.pk).update(status="approved")
        execution.execute(write.pk)
        write.refresh_from_db()
        assert write.status == "failed"
    assert effects(shop) == 0


def test_a_message_for_another_task_runs_nothing(approved: Any, shop: Any) -> None:
    write = approved()
    outbox.enqueue("gate.writes.tasks.preview_write", "writes", write.pk)
    job = Outbox.objects.get(task="gate.writes.tasks.preview_write", subject_id=write.pk)
    tasks.execute_write(job.pk)
    assert effects(shop) == 0


# 26. Somebody is told what is not so.


@pytest.mark.parametrize("kept", ["shop.gate_ledger", None])
def test_what_committed_unmarked_is_found_with_its_own_receipt_and_not_run_again(
    approved: Any, define: Any, shop: Any, agent: Any, monkeypatch: Any, kept: str | None
) -> None:
    if kept is None:
        define("target", "shop", {**BODY, "ledger": None})
    write = approved()
    with monkeypatch.context() as patch:
        crash_after(patch, "_commit")
        with pytest.raises(SystemExit):
            execution.execute(write.pk)
    assert desk.status(agent, {"write": write.ref})["status"] == "executing"  # nobody says more than is known
    committed = Execution.objects.get(write=write).noted
    assert committed is not None
    status, done = run(write)
    assert done is not None
    assert (status, done.target_xid, effects(shop)) == ("executed", committed["xid"], 1)
    assert desk.status(agent, {"write": write.ref})["status"] == "executed"
    assert Entry.objects.filter(subject=write.ref, kind="write.executed").count() == 1
    assert done.receipt is not None


def test_what_did_not_commit_is_never_said_to_have_run(approved: Any, shop: Any, agent: Any, monkeypatch: Any) -> None:
    write = approved()
    monkeypatch.setattr(ledger, "IS_PROOF", "select false where %s <> ''")
    status, _ = run(write)
    assert (status, effects(shop)) == ("failed", 0)
    assert desk.status(agent, {"write": write.ref})["status"] == "failed"


# 7 and 8. Many at once.


@pytest.mark.django_db(transaction=True)
def test_twenty_approvers_at_once_and_twenty_writers_make_one_execution(
    previewed: Any, approve: Any, make_person: Any, shop: Any
) -> None:
    write = previewed()
    write.refresh_from_db()
    version, people = write.version, [make_person(f"approver-{number}", "on_call") for number in range(20)]

    def press(person: Any) -> None:
        with suppress(NotAllowed):
            approve(WriteRequest.objects.get(pk=write.pk), by=person, seen_version=version)

    def deliver(_: Any) -> None:
        with suppress(execution.TryAgain):
            execution.execute(write.pk)

    at_once(press, people)
    assert Decision.objects.filter(write=write).count() == 1
    assert Outbox.objects.filter(task=unknowns.EXECUTE, subject_id=write.pk).count() == 1
    at_once(deliver, people)
    execution.execute(write.pk)
    write.refresh_from_db()
    assert (write.status, effects(shop)) == ("executed", 1)
    assert shop.execute("select count(*) from shop.gate_ledger").fetchone() == (1,)
    assert Entry.objects.filter(subject=write.ref, kind="write.executed", at__gte=write.proposed_at).count() == 1


def at_once(act: Any, given: list[Any]) -> None:
    """Each in a thread of its own, with a connection of its own."""
    start = threading.Barrier(len(given))

    def go(one: Any) -> None:
        start.wait(30)
        try:
            act(one)
        finally:
            connection.close()

    threads = [threading.Thread(target=go, args=[one]) for one in given]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
