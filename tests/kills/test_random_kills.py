"""A short run of the random kills; and for each promise a harm, done by hand, that its check does not miss."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import psycopg
import pytest

from gate.config import embedded
from tests.kills import product, promises_log, promises_people, promises_triage, promises_writes, victims
from tests.kills.run import Plan, Run, allow_much
from tests.kills.scene import Scene

pytestmark = pytest.mark.timeout(900)
SECONDS = 25.0


@pytest.fixture(scope="module")
def ran() -> Iterator[tuple[Run, list[str]]]:
    """A run that is over, with the product still there, and what it found."""
    at = product.start()
    try:
        allow_much(at)
        plan = Plan(SECONDS, round_seconds=SECONDS, longest_pause=2, seed=random.SystemRandom().randrange(10**6))
        run = Run(at, plan)
        _begin(run)
        yield run, run.go()
    finally:
        victims.let_go(at)
        at.stop()
        at.forget()


def _begin(run: Run) -> None:
    """Before anything dies: one thing of each kind is done, however slow the machine is."""
    done = run.diary
    while not (done.submissions and done.reviews and "approve" in {one.act for one in done.decisions.values()}):
        run.agent.live()
        run.person.live()


def test_whatever_is_killed_nothing_is_lost_doubled_or_shown_wrongly(ran: tuple[Run, list[str]]) -> None:
    run, findings = ran
    assert findings == [], f"seed {run.plan.seed}"
    assert run.killer.blows


def test_a_worker_whose_acknowledgment_was_lost_with_the_broker_works_on(ran: tuple[Run, list[str]]) -> None:
    run, _ = ran
    (child,) = victims.find(run.product, "verdict worker", "child").pids
    os.kill(child, signal.SIGSTOP)
    try:
        run.agent.live()  # its submission's job is with the worker now
        time.sleep(2)
        for pid in victims.find(run.product, "broker").pids:
            os.kill(pid, signal.SIGKILL)
    finally:
        os.kill(child, signal.SIGCONT)
    assert _is_quiet(run)
    run.agent.live()
    assert _is_quiet(run)


def _is_quiet(run: Run) -> bool:
    deadline = time.monotonic() + 90
    while not run.is_quiet() and time.monotonic() < deadline:
        time.sleep(0.2)
    return run.is_quiet()


NEWEST_WRITE = "(select max(id) from writes_writerequest where title like 'Count an attempt%')"
SHOP_TABLES = ("shop.gate_ledger", "shop.jobs")
HARMS: list[tuple[Callable[[Scene], list[str]], str]] = [
    (promises_triage.every_incident_is_there_once, "delete from triage_incident where dedup_key like 'kills-%'"),
    (promises_triage.every_submission_has_one_draft, "delete from triage_draft"),
    (
        promises_triage.every_submission_and_draft_has_one_entry,
        "delete from audit_entry where kind = 'findings.submitted'",
    ),
    (promises_people.every_decision_is_there, "update writes_decision set reason = 'Another one.'"),
    (promises_people.every_decision_is_there, "delete from audit_entry where kind = 'write.approved'"),
    (promises_people.every_review_is_there, "delete from triage_review"),
    (
        promises_writes.every_proposal_is_there_once,
        f"update writes_writerequest set title = 'Count an attempt of nobody' where id = {NEWEST_WRITE}",
    ),
    (
        promises_writes.writes_are_executed_at_most_once,
        "insert into shop.gate_ledger select gen_random_uuid(), write_ref, proposal_digest, effect, executed_at"
        " from shop.gate_ledger",
    ),
    (promises_writes.writes_have_one_effect, "update shop.jobs set attempts = attempts + 1 where job_id = 90301"),
    (
        promises_writes.every_write_is_over_or_waits,
        f"update writes_writerequest set status = 'unknown' where id = {NEWEST_WRITE}",
    ),
    (promises_writes.every_outcome_has_one_entry, "delete from audit_entry where kind = 'write.executed'"),
    (promises_log.every_cited_entry_is_there, "update audit_payload set result = args"),
    (promises_log.every_cited_entry_is_there, "delete from audit_entry where kind = 'call.finished'"),
    (promises_log.writers_numbers_have_no_gap, "delete from audit_entry where writer_seq = 1"),
    (
        promises_log.the_outbox_is_empty,
        "insert into audit_outbox (task, queue, subject_id) values ('none', 'nowhere', 1)",
    ),
]


@pytest.mark.parametrize(("check", "harm"), HARMS, ids=[harm for _, harm in HARMS])
def test_a_broken_promise_is_found(ran: tuple[Run, list[str]], check: Callable[[Scene], list[str]], harm: str) -> None:
    run, _ = ran
    database = "shop" if any(table in harm for table in SHOP_TABLES) else "counterseal"
    with closing(embedded.superuser_connection(run.product.var / "run", database)) as connection:
        _let_harm_be_done(connection)
        connection.execute(harm)
    assert check(run.scene) != []


def _let_harm_be_done(connection: psycopg.Connection[Any]) -> None:
    """Foreign keys and triggers would refuse it; those of the log even where triggers are off."""
    connection.execute("set session_replication_role = replica")
    log = "select relname from pg_class where relname like 'audit_%' and relkind = 'r'"
    for (name,) in connection.execute(log).fetchall():
        connection.execute(f"alter table {name} disable trigger user")
