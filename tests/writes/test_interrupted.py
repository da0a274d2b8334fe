"""What ends a write in the middle though nothing is wrong with it: nothing runs twice, and it is said what to do."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from gate.writes import effect, execution, session
from gate.writes.models import Execution, Preview
from tests.writes.conftest import BODY
from tests.writes.test_execution import run
from tests.writes.test_kills import effects

pytestmark = pytest.mark.django_db


@pytest.fixture(params=["ledger", "xid"])
def target(request: Any, define: Any, shop: Any) -> Any:
    """The shop, with its ledger and without."""
    return define("target", "shop", {**BODY, "ledger": BODY["ledger"] if request.param == "ledger" else None})


def before_the_change(monkeypatch: Any, act: Any) -> None:
    """Have something happen once the transaction is open, right before the statement."""
    kept = effect.run

    def change(connection: Any, *given: Any) -> Any:
        act(connection)
        return kept(connection, *given)

    monkeypatch.setattr(effect, "run", change)


def assert_nothing_written(write: Any, shop: Any, status: str, sentence: str) -> None:
    done = Execution.objects.get(write=write)
    assert (done.state, effects(shop)) == (status, 0)
    assert sentence in done.error
    assert "ropose" in done.error.split(". ", 1)[-1]  # what to do
    assert run(write)[0] == status  # and it is over: a further delivery does nothing
    assert effects(shop) == 0


def test_rows_that_change_under_the_snapshot(approved: Any, shop: Any, monkeypatch: Any) -> None:
    write = approved()

    def rival(connection: Any) -> None:
        connection.execute("select count(*) from shop.jobs")  # the snapshot is taken
        shop.execute("update shop.jobs set attempts = attempts where job_id = 7")

    shop.execute("alter table shop.jobs disable trigger note")
    with monkeypatch.context() as patch:
        before_the_change(patch, rival)
        run(write)
    assert_nothing_written(write, shop, "refused_stale", "The rows changed while the write ran")


def test_a_lock_that_is_not_released(approved: Any, shop: Any) -> None:
    write = approved()
    with psycopg.connect(shop.info.dsn) as rival:
        rival.execute("select 1 from shop.jobs where job_id = 7 for update")
        run(write)
    assert_nothing_written(write, shop, "failed", "Another session holds a lock")


@contextmanager
def deadlocked(shop: Any) -> Iterator[Any]:
    """A rival that holds job 7 and then waits for job 8, which the writer is made to lock first."""
    threads = []

    def rival(connection: Any) -> None:
        connection.execute("set local lock_timeout = '20s'")
        connection.execute("select 1 from shop.jobs where job_id = 8 for update")
        other = psycopg.connect(shop.info.dsn)
        other.execute("set deadlock_timeout = '20s'")
        other.execute("select 1 from shop.jobs where job_id = 7 for update")
        threads.append(threading.Thread(target=_wait_for_8, args=[other]))
        threads[0].start()
        time.sleep(0.3)

    yield rival
    for thread in threads:
        thread.join()


def _wait_for_8(other: Any) -> None:
    other.execute("select 1 from shop.jobs where job_id = 8 for update")
    other.rollback()
    other.close()


def test_a_deadlock(approved: Any, shop: Any, monkeypatch: Any) -> None:
    write = approved()
    with deadlocked(shop) as rival, monkeypatch.context() as patch:
        before_the_change(patch, rival)
        run(write)
    assert_nothing_written(write, shop, "failed", "waited for each other")


def test_a_statement_that_takes_too_long(approved: Any, shop: Any, monkeypatch: Any) -> None:
    write = approved()
    shop.execute(
        "create or replace function shop.touch() returns trigger language plpgsql as"
        " $$ begin perform pg_sleep(5); return new; end $$"
    )
    with monkeypatch.context() as patch:
        patch.setitem(session.PINNED, "statement_timeout", "200ms")
        run(write)
    assert_nothing_written(write, shop, "failed", "was stopped")


@pytest.mark.parametrize("name", ["idle_in_transaction_session_timeout", "transaction_timeout"])
def test_a_writer_that_stands_still_before_its_change(approved: Any, shop: Any, monkeypatch: Any, name: str) -> None:
    write = approved()
    with monkeypatch.context() as patch:
        patch.setitem(session.PINNED, name, "150ms")
        before_the_change(patch, lambda connection: time.sleep(0.5))
        run(write)
    assert_nothing_written(write, shop, "failed", "the target ended its session")


@pytest.mark.parametrize("name", ["idle_in_transaction_session_timeout", "transaction_timeout"])
def test_a_writer_that_stands_still_before_its_commit_asks_and_runs_it_once(
    approved: Any, shop: Any, monkeypatch: Any, name: str
) -> None:
    write = approved()
    kept = execution._check_newest_attempt

    def stand_still(claim: Any) -> None:
        time.sleep(0.7)
        kept(claim)

    with monkeypatch.context() as patch:
        patch.setitem(session.PINNED, name, "500ms")
        patch.setattr(execution, "_check_newest_attempt", stand_still)
        with pytest.raises(execution.TryAgain):
            execution.execute(write.pk)
    assert (Execution.objects.get(write=write).state, effects(shop)) == ("unknown", 0)
    status, done = run(write)
    assert done is not None
    assert (status, done.attempt, effects(shop)) == ("executed", 2, 1)
    assert done.effect_digest == Preview.objects.get(write=write).effect_digest
